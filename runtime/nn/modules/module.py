"""`Module`, and the hooks of all modules."""

from ...core.missing import explaining as _explaining
from ..module import Module as Module
from ..module_hooks import register_module_backward_hook as register_module_backward_hook
from ..module_hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from ..module_hooks import register_module_forward_hook as register_module_forward_hook
from ..module_hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from ..module_hooks import (
    register_module_full_backward_hook as register_module_full_backward_hook,
)
from ..module_hooks import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from ..module_hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from ..module_hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)

__getattr__ = _explaining(__name__)
