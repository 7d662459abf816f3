import pytest

from voice.errors import DeviceError, ModelBroken
from voice.tasks import lone_errors


def test_a_lone_error_comes_out_as_itself_with_its_cause():
    error = ValueError("alone")
    error.__cause__ = KeyError("why")
    with pytest.raises(ValueError, match="alone") as caught, lone_errors():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [error])])
    assert isinstance(caught.value.__cause__, KeyError)


def test_of_several_of_our_own_the_first_comes_out_and_names_the_others():
    with pytest.raises(DeviceError) as caught, lone_errors():
        raise ExceptionGroup("both", [DeviceError("No microphone."), ModelBroken("No model.")])
    assert caught.value.__notes__ == ["No model."]


def test_several_others_stay_a_group():
    with pytest.raises(ExceptionGroup), lone_errors():
        raise ExceptionGroup("both", [DeviceError("No microphone."), ValueError("a bug")])


def test_what_is_no_group_passes():
    with pytest.raises(ValueError, match="plain"), lone_errors():
        raise ValueError("plain")
