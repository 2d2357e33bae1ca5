-- Compass at submit time: looks up what similar jobs needed (CliFilterPlugins=cli_filter/lua).
-- Runs inside sbatch, salloc and srun of a person, never inside slurmctld. Whatever goes wrong, the
-- job is submitted as it was asked for.
@COMMON@
-- Minutes of "1-02:03:04", "02:03:04" or "90"; nil: nothing was asked for.
local function minutes(text)
    if text == nil then return nil end
    local days, h, m, s = text:match("^(%d+)%-(%d+):(%d+):(%d+)$")
    if not days then h, m, s = text:match("^(%d+):(%d+):(%d+)$") end
    if h then return (days or 0) * 1440 + h * 60 + m + math.ceil(s / 60) end
    m, s = text:match("^(%d+):(%d+)$")
    if m then return m + math.ceil(s / 60) end
    return tonumber(text:match("^%d+$"))
end

local POWERS = { K = 1 / 1024, M = 1, G = 1024, T = 1024 * 1024 }

-- MiB of "4G", "500M" or "4096"; nil: nothing was asked for.
local function mebibytes(text)
    if text == nil then return nil end
    local number, unit = text:match("^(%d+%.?%d*)([KMGT]?)B?$")
    if not number then return nil end
    return tonumber(number) * POWERS[unit == "" and "M" or unit]
end

local function job_of(options)
    return {
        user = os.getenv("USER") or os.getenv("LOGNAME"),
        name = options["job-name"],
        text = { mem = options["mem"], time = options["time"] },
        asked = { mem = mebibytes(options["mem"]), time = minutes(options["time"]) },
        whole = options["exclusive"] == "exclusive",
        per_cpu = mebibytes(options["mem-per-cpu"]) ~= nil,
        per_gpu = mebibytes(options["mem-per-gpu"]) ~= nil,
        log = (os.getenv("HOME") or "/tmp") .. "/.compass-hook.jsonl",
        apply = function(option, amount) options[option] = written(option, amount) end,
        tell = function(text) slurm.log_info("%s", text) end,
    }
end

function slurm_cli_setup_defaults(options, early_pass)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    return safely(function() return job_of(options) end)
end

function slurm_cli_post_submit(offset, job_id, step_id)
    return slurm.SUCCESS
end
