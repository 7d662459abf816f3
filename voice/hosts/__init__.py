"""The agents, one a file, behind the one `Host` port."""
