"""A table's columns to bind queries to."""

from compass.domain.space import Category, Number, Role, Space

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="gpus", low=0, high=256, step=1),
        Number(name="mem_gb", low=1, high=512, unit="GB"),
        Number(name="time_limit", low=1, high=86400, unit="s"),
        Number(name="cap", low=50, high=300, unit="W", optional=True),
        Number(name="stripes", low=1, high=9, unit="stripes"),
        Number(name="Time[s]", low=0, high=10),
        Number(name="x?y", low=0, high=10),
        Number(name="xay", low=0, high=10),
        Number(name="a*b", low=0, high=10),
        Number(name="a1b", low=0, high=10),
        Number(name="X+_A_STALL", low=0, high=10),
        Number(name="X+_B_STALL", low=0, high=10),
        Number(name="Case", low=0, high=1),
        Number(name="CASE", low=0, high=1),
        Category(name="partition", values=("cpu", "gpu", "Big-Mem", None)),
        Category(name="app", values=("FT", "CoMD")),
        Category(
            name="net", values=("ResNet-50", "ResNet-101", "A100-SXM4-40GB", "v-1.0", "VGG/16")
        ),
        Category(name="queue", values=(1, 2.5, "3")),
        Category(name="is_gpu", values=(False, True), role=Role.CONTEXT),
        Number(name="runtime", low=0, high=1e5, unit="s", role=Role.OUTCOME),
        Number(name="power", low=0, high=1e4, unit="W", role=Role.OUTCOME),
        Number(name="score", low=0, high=1, role=Role.OUTCOME),
        Category(name="job_state", values=("completed", "failed"), role=Role.OUTCOME),
    )
)
