"""What the model sees and gets back, one file a contract."""

from collections.abc import Mapping
from types import MappingProxyType

from questionnaire.contracts import choices, form, user_select
from questionnaire.contracts.base import Contract

__all__ = ["CONTRACTS", "Contract"]

CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {"choices": choices.CONTRACT, "form": form.CONTRACT, "user_select": user_select.CONTRACT}
)
"""Every contract by the name under which the settings and the command line know it."""
