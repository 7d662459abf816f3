"""The agent of this example: an async function. It could as well be an `Agent` of pydantic-ai, or a host."""


async def agent(text: str) -> str:
    """Reply to one message of the user."""
    if "deploy" in text.lower():
        return "Staging or production?"
    return f"Deployed to {'production' if 'second' in text.lower() else 'staging'}."
