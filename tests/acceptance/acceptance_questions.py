"""The 15 questions of Table VI, as the paper prints them.

Three abbreviations of its narrow columns are written out: `num_gpu_req` is the column num_gpus_req,
`node, mem, cpu power consumption` are the three columns, and `Y=?, Z=?` are coordinates like
`nettopo_mesh_coord_X=?`. Everything else is as printed, quotes and arrows included.
"""

TABLE_VI: dict[tuple[str, str], str] = {
    ("recommend", "Monet"): "Recommend a configuration where X = {nettopo_mesh_coord_Z: ?, "
    "nettopo_mesh_coord_Y: ?, nettopo_mesh_coord_X: ?} to achieve Y = "
    "{X+_SAMPLE_GEMINI_LINK_INQ_STALL: minimized, X+_SAMPLE_GEMINI_LINK_CREDIT_STALL: minimized, "
    "X+_SAMPLE_GEMINI_LINK_USED_BW: minimized} where C = {}",
    ("recommend", "PM-100"): "Recommend a configuration where X = {cores_per_task: ?, "
    "num_cores_req: ?, num_nodes_req: ?, mem_req: ?, time_limit: ?} to achieve Y = "
    "{node_power_consumption: minimized, mem_power_consumption: minimized, "
    "cpu_power_consumption: minimized} where C = {job_state: completed, num_gpus_req: 16, "
    "partition: 1}",
    ("recommend", "BUTTER-E"): "Recommend a configuration where X = {depth: ?, shape: ?, "
    "batch_size: ?, optimizer: ?} to achieve Y = {power: minimized, runtime: minimized} where C = "
    '{is_gpu: True, dataset: ‘‘mnist"}',
    ("recommend", "CoMD"): "Recommend a configuration where X ={bw_level: ?, power_cap: ?, "
    "algorithm: ?} to  achieve Y = {perf_variation: minimized, runtime: minimized} where C ={app: "
    "CoMD}",
    ("recommend", "FT"): "Recommend a configuration where X ={bw_level: ?, power_cap: ?, "
    "algorithm: ?, thread_count: ?} to achieve Y = {perf_variation: minimized, runtime: "
    "minimized} where C = {app: FT}",
    ("reconfigure", "Monet"): "Reconfigure X = {X+_*_CREDIT_STALL: x→2x, X+_*_INQ_STALL: x → 2x} "
    "to achieve Y = {Z+_*_CREDIT_STALL: reduce by 20%}  where C ={}",
    ("reconfigure", "PM-100"): "Reconfigure X = {cores_per_task: ?, num_cores_req: ?, "
    "num_nodes_req: ?, mem_req: ?, time_limit: ?} to  achieve Y = {node_power_consumption, "
    "mem_power_consumption, cpu_power_consumption: reduced by 10%} where C = {num_gpus_req: 16, "
    "job_state: completed}",
    ("reconfigure", "BUTTER-E"): "Reconfigure X = {depth: ?, shape: ?, batch_size: ?, "
    "optimizer: ?} to achieve Y = {power: 10% reduction, runtime: 10% reduction} where C = "
    '{is_gpu: True, dataset:‘‘mnist"}',
    ("reconfigure", "CoMD"): "Reconfigure X = {Bw_level: ?, power_cap: ?} to achieve Y = "
    "{perf variation: reduce by 10%} where C = {app: CoMD}",
    ("reconfigure", "FT"): "Reconfigure X = {algorithm: ?} to achieve Y = {perf_variation: reduce "
    "by 10%} where C = {app: FT }",
    ("what-if", "Monet"): "What-if we change X = {Y+_SAMPLE_GEMINI_LINK_CREDIT_STALL= x → x/2 , "
    "nettopo_mesh_coord_X=?, nettopo_mesh_coord_Y=?, nettopo_mesh_coord_Z=?} how would that "
    "affect Y = {link stalls} where C = {}?",
    ("what-if", "PM-100"): "What if we change X = {num_gpus_req: old→2 × old} how would that "
    "affect Y = {node_power_consumption, mem_power_consumption, cpu_power_consumption} where C = "
    "{job_state: completed}?",
    ("what-if", "BUTTER-E"): "What if we change X = {depth: old→2×old} how would that affect Y = "
    '{power, runtime} where C = {is_gpu: True, dataset: ‘‘adult"}?',
    ("what-if", "CoMD"): "What-if we change X = {algorithm: rand→pak} how will it affect Y = "
    "{perf_variation} where C = {app: CoMD}?",
    ("what-if", "FT"): "What-if we change X = {algorithm: rand → pak} how will it affect Y = "
    "{perf_variation, run_time} where C = {app: FT}?",
}
