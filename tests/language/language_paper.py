"""The queries that the paper prints: all of Table VI, Figure 5, and the templates of its text."""

from language_case import Case, recommend, reconfigure, what_if

from compass.domain.goal import Extreme, Observe, Within, less, maximize, minimize, observe, same
from compass.domain.query import SetTo, Times, set_to, times

TABLE_VI = [
    Case(
        "recommend Monet",
        "Recommend a configuration where X = {nettopo_mesh_coord_Z: ?, nettopo_mesh_coord_Y: ?, "
        "nettopo_mesh_coord_X: ?} to achieve Y = {X+_SAMPLE_GEMINI_LINK_INQ_STALL: minimized, "
        "X+_SAMPLE_GEMINI_LINK_CREDIT_STALL: minimized, X+_SAMPLE_GEMINI_LINK_USED_BW: minimized} "
        "where C = {}",
        recommend(
            "nettopo_mesh_coord_Z",
            "nettopo_mesh_coord_Y",
            "nettopo_mesh_coord_X",
            goals={
                "X+_SAMPLE_GEMINI_LINK_INQ_STALL": minimize,
                "X+_SAMPLE_GEMINI_LINK_CREDIT_STALL": minimize,
                "X+_SAMPLE_GEMINI_LINK_USED_BW": minimize,
            },
        ),
        "Recommend a configuration X = {nettopo_mesh_coord_Z: ?, nettopo_mesh_coord_Y: ?, "
        "nettopo_mesh_coord_X: ?} to achieve Y = {`X+_SAMPLE_GEMINI_LINK_INQ_STALL`: minimize, "
        "`X+_SAMPLE_GEMINI_LINK_CREDIT_STALL`: minimize, "
        "`X+_SAMPLE_GEMINI_LINK_USED_BW`: minimize}",
    ),
    Case(
        "recommend PM-100",
        "Recommend a configuration where X = {cores_per_task: ?, num_cores_req: ?, "
        "num_nodes_req: ?, mem_req: ?, time_limit: ?} to achieve Y = {node_power_consumption: "
        "minimized, mem_power_consumption: minimized, cpu_power_consumption: minimized} where C = "
        "{job_state: completed, num_gpus_req: 16, partition: 1}",
        recommend(
            "cores_per_task",
            "num_cores_req",
            "num_nodes_req",
            "mem_req",
            "time_limit",
            goals={
                "node_power_consumption": minimize,
                "mem_power_consumption": minimize,
                "cpu_power_consumption": minimize,
            },
            where=("job_state == 'completed'", "num_gpus_req == 16", "partition == 1"),
        ),
        "Recommend a configuration X = {cores_per_task: ?, num_cores_req: ?, num_nodes_req: ?, "
        "mem_req: ?, time_limit: ?} to achieve Y = {node_power_consumption: minimize, "
        "mem_power_consumption: minimize, cpu_power_consumption: minimize} where C = "
        "{job_state == 'completed', num_gpus_req == 16, partition == 1}",
    ),
    Case(
        "recommend BUTTER-E",
        "Recommend a configuration where X = {depth: ?, shape: ?, batch_size: ?, optimizer: ?} to "
        "achieve Y = {power: minimized, runtime: minimized} where C = {is_gpu: True, "
        'dataset: ‘‘mnist"}',
        recommend(
            "depth",
            "shape",
            "batch_size",
            "optimizer",
            goals={"power": minimize, "runtime": minimize},
            where=("is_gpu == true", "dataset == 'mnist'"),
        ),
        "Recommend a configuration X = {depth: ?, shape: ?, batch_size: ?, optimizer: ?} to "
        "achieve Y = {power: minimize, runtime: minimize} where C = {is_gpu == true, "
        "dataset == 'mnist'}",
    ),
    Case(
        "recommend CoMD",
        "Recommend a configuration where X ={bw_level: ?, power_cap: ?, algorithm: ?} to  achieve "
        "Y = {perf_variation: minimized, runtime: minimized} where C ={app: CoMD}",
        recommend(
            "bw_level",
            "power_cap",
            "algorithm",
            goals={"perf_variation": minimize, "runtime": minimize},
            where=("app == 'CoMD'",),
        ),
        "Recommend a configuration X = {bw_level: ?, power_cap: ?, algorithm: ?} to achieve "
        "Y = {perf_variation: minimize, runtime: minimize} where C = {app == 'CoMD'}",
    ),
    Case(
        "recommend FT",
        "Recommend a configuration where X ={bw_level: ?, power_cap: ?, algorithm: ?, "
        "thread_count: ?} to achieve Y = {perf_variation: minimized, runtime: minimized} "
        "where C = {app: FT}",
        recommend(
            "bw_level",
            "power_cap",
            "algorithm",
            "thread_count",
            goals={"perf_variation": minimize, "runtime": minimize},
            where=("app == 'FT'",),
        ),
        "Recommend a configuration X = {bw_level: ?, power_cap: ?, algorithm: ?, thread_count: ?} "
        "to achieve Y = {perf_variation: minimize, runtime: minimize} where C = {app == 'FT'}",
    ),
    Case(
        "reconfigure Monet",
        "Reconfigure X = {X+_*_CREDIT_STALL: x→2x, X+_*_INQ_STALL: x → 2x} to achieve Y = "
        "{Z+_*_CREDIT_STALL: reduce by 20%}  where C ={}",
        reconfigure(
            change={"X+_*_CREDIT_STALL": times(2), "X+_*_INQ_STALL": times(2)},
            goals={"Z+_*_CREDIT_STALL": less(0.2)},
        ),
        "Reconfigure X = {`X+_*_CREDIT_STALL`: old -> 2*old, `X+_*_INQ_STALL`: old -> 2*old} "
        "to achieve Y = {`Z+_*_CREDIT_STALL`: reduce by 20%}",
    ),
    Case(
        "reconfigure PM-100",
        "Reconfigure X = {cores_per_task: ?, num_cores_req: ?, num_nodes_req: ?, mem_req: ?, "
        "time_limit: ?} to  achieve Y = {node_power_consumption, mem_power_consumption, "
        "cpu_power_consumption: reduced by 10%} where C = {num_gpus_req: 16, job_state: completed}",
        reconfigure(
            "cores_per_task",
            "num_cores_req",
            "num_nodes_req",
            "mem_req",
            "time_limit",
            goals={
                "node_power_consumption": less(0.1),
                "mem_power_consumption": less(0.1),
                "cpu_power_consumption": less(0.1),
            },
            where=("num_gpus_req == 16", "job_state == 'completed'"),
        ),
        "Reconfigure X = {cores_per_task: ?, num_cores_req: ?, num_nodes_req: ?, mem_req: ?, "
        "time_limit: ?} to achieve Y = {node_power_consumption: reduce by 10%, "
        "mem_power_consumption: reduce by 10%, cpu_power_consumption: reduce by 10%} where C = "
        "{num_gpus_req == 16, job_state == 'completed'}",
    ),
    Case(
        "reconfigure BUTTER-E",
        "Reconfigure X = {depth: ?, shape: ?, batch_size: ?, optimizer: ?} to achieve Y = {power: "
        '10% reduction, runtime: 10% reduction} where C = {is_gpu: True, dataset:‘‘mnist"}',
        reconfigure(
            "depth",
            "shape",
            "batch_size",
            "optimizer",
            goals={"power": less(0.1), "runtime": less(0.1)},
            where=("is_gpu == true", "dataset == 'mnist'"),
        ),
        "Reconfigure X = {depth: ?, shape: ?, batch_size: ?, optimizer: ?} to achieve Y = {power: "
        "reduce by 10%, runtime: reduce by 10%} where C = {is_gpu == true, dataset == 'mnist'}",
    ),
    Case(
        "reconfigure CoMD",
        "Reconfigure X = {Bw_level: ?, power_cap: ?} to achieve Y = {perf variation: reduce by "
        "10%} where C = {app: CoMD}",
        reconfigure(
            "Bw_level",
            "power_cap",
            goals={"perf variation": less(0.1)},
            where=("app == 'CoMD'",),
        ),
        "Reconfigure X = {Bw_level: ?, power_cap: ?} to achieve Y = {`perf variation`: reduce by "
        "10%} where C = {app == 'CoMD'}",
    ),
    Case(
        "reconfigure FT",
        "Reconfigure X = {algorithm: ?} to achieve Y = {perf_variation: reduce by 10%} where C = "
        "{app: FT }",
        reconfigure("algorithm", goals={"perf_variation": less(0.1)}, where=("app == 'FT'",)),
        "Reconfigure X = {algorithm: ?} to achieve Y = {perf_variation: reduce by 10%} where C = "
        "{app == 'FT'}",
    ),
    Case(
        "what-if Monet",
        "What-if we change X = {Y+_SAMPLE_GEMINI_LINK_CREDIT_STALL= x → x/2 , "
        "nettopo_mesh_coord_X=?, nettopo_mesh_coord_Y=?, nettopo_mesh_coord_Z=?} how would that "
        "affect Y = {link stalls} where C = {}?",
        what_if(
            "nettopo_mesh_coord_X",
            "nettopo_mesh_coord_Y",
            "nettopo_mesh_coord_Z",
            change={"Y+_SAMPLE_GEMINI_LINK_CREDIT_STALL": times(0.5)},
            goals={"link stalls": observe},
        ),
        "What if we change X = {nettopo_mesh_coord_X: ?, nettopo_mesh_coord_Y: ?, "
        "nettopo_mesh_coord_Z: ?, `Y+_SAMPLE_GEMINI_LINK_CREDIT_STALL`: old -> 0.5*old}, "
        "how would that affect Y = {`link stalls`}",
    ),
    Case(
        "what-if PM-100",
        "What if we change X = {num_gpus_req: old→2 × old} how would that affect Y = "
        "{node_power_consumption, mem_power_consumption, cpu_power_consumption} where C = "
        "{job_state: completed}?",
        what_if(
            change={"num_gpus_req": times(2)},
            goals={
                "node_power_consumption": observe,
                "mem_power_consumption": observe,
                "cpu_power_consumption": observe,
            },
            where=("job_state == 'completed'",),
        ),
        "What if we change X = {num_gpus_req: old -> 2*old}, how would that affect Y = "
        "{node_power_consumption, mem_power_consumption, cpu_power_consumption} where C = "
        "{job_state == 'completed'}",
    ),
    Case(
        "what-if BUTTER-E",
        "What if we change X = {depth: old→2×old} how would that affect Y = {power, runtime} "
        'where C = {is_gpu: True, dataset: ‘‘adult"}?',
        what_if(
            change={"depth": times(2)},
            goals={"power": observe, "runtime": observe},
            where=("is_gpu == true", "dataset == 'adult'"),
        ),
        "What if we change X = {depth: old -> 2*old}, how would that affect Y = {power, runtime} "
        "where C = {is_gpu == true, dataset == 'adult'}",
    ),
    Case(
        "what-if CoMD",
        "What-if we change X = {algorithm: rand→pak} how will it affect Y = {perf_variation} "
        "where C = {app: CoMD}?",
        what_if(
            change={"algorithm": set_to("pak")},
            stated={"algorithm": "rand"},
            goals={"perf_variation": observe},
            where=("app == 'CoMD'",),
        ),
        "What if we change X = {algorithm: 'rand' -> 'pak'}, how would that affect "
        "Y = {perf_variation} where C = {app == 'CoMD'}",
    ),
    Case(
        "what-if FT",
        "What-if we change X = {algorithm: rand → pak} how will it affect Y = {perf_variation, "
        "run_time} where C = {app: FT}?",
        what_if(
            change={"algorithm": set_to("pak")},
            stated={"algorithm": "rand"},
            goals={"perf_variation": observe, "run_time": observe},
            where=("app == 'FT'",),
        ),
        "What if we change X = {algorithm: 'rand' -> 'pak'}, how would that affect "
        "Y = {perf_variation, run_time} where C = {app == 'FT'}",
    ),
]

TEMPLATES = [
    Case(
        "the query that the dialogue of Figure 5 ends with",
        "Recommend a configuration X_user = {num_threads: ?, thread_affinity: ?}\n"
        "to achieve Y = {runtime : minimize} where C = {nodes < 16}.",
        recommend(
            "num_threads", "thread_affinity", goals={"runtime": minimize}, where=("nodes < 16",)
        ),
        "Recommend a configuration X = {num_threads: ?, thread_affinity: ?} to achieve "
        "Y = {runtime: minimize} where C = {nodes < 16}",
    ),
    Case(
        "recommend with a value, a range and two kinds of condition",
        "Recommend a configuration X = {a: 4, b: ?, c: ?} to achieve Y = {runtime: minimize, "
        "power: [200, 350]} where C = {nodes < 16, partition: 1}",
        recommend(
            "b",
            "c",
            change={"a": SetTo(value=4)},
            goals={"runtime": Extreme(direction="minimize"), "power": Within(low=200, high=350)},
            where=("nodes < 16", "partition == 1"),
        ),
        "Recommend a configuration X = {b: ?, c: ?, a: 4} to achieve Y = {runtime: minimize, "
        "power: [200, 350]} where C = {nodes < 16, partition == 1}",
    ),
    Case(
        "reconfigure with a stated old value and one that is only a reference",
        "Reconfigure X = {a: 8 -> 16, b: old -> ?} to achieve Y = {runtime: reduce by 10%} "
        "where C = {a <= 64}",
        reconfigure(
            "b",
            change={"a": set_to(16)},
            stated={"a": 8},
            goals={"runtime": less(0.1)},
            where=("a <= 64",),
        ),
        "Reconfigure X = {b: ?, a: 8 -> 16} to achieve Y = {runtime: reduce by 10%} "
        "where C = {a <= 64}",
    ),
    Case(
        "what-if with several outcomes",
        "What if we change X = {gpus: old -> 2*old}, how would that affect Y = {node_power, "
        "runtime} where C = {job_state: completed}?",
        what_if(
            change={"gpus": Times(factor=2)},
            goals={"node_power": Observe(), "runtime": Observe()},
            where=("job_state == 'completed'",),
        ),
        "What if we change X = {gpus: old -> 2*old}, how would that affect Y = {node_power, "
        "runtime} where C = {job_state == 'completed'}",
    ),
    Case(
        "what-if that keeps outcomes the same",
        "What if we change X = {a: 4}, keep Y = {runtime, power} the same: what else has to "
        "change?",
        what_if(change={"a": set_to(4)}, goals={"runtime": same, "power": same}),
        "What if we change X = {a: old -> 4}, how would that affect Y = {runtime: same, "
        "power: same}",
    ),
    Case(
        "an outcome as a condition",
        "Recommend X = {nodes: ?} to achieve Y = {throughput: maximise} "
        "where C = {run_time <= time_limit, job_state: completed}",
        recommend(
            "nodes",
            goals={"throughput": maximize},
            where=("run_time <= time_limit", "job_state == 'completed'"),
        ),
        "Recommend a configuration X = {nodes: ?} to achieve Y = {throughput: maximize} "
        "where C = {run_time <= time_limit, job_state == 'completed'}",
    ),
]
