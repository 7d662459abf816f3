"""Any agent that speaks the Agent Client Protocol (ACP), as a host."""
