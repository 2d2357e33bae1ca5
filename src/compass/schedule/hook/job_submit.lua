-- Compass at submit time: looks up what similar jobs needed (JobSubmitPlugins=lua).
-- Runs inside slurmctld, for jobs that come in other ways than by a client with cli_filter as well.
-- One look-up in a table that is read at most once a minute; no program is started and nothing is
-- waited for. Whatever goes wrong, the job is submitted as it was asked for.
@COMMON@
local UNKNOWN = 4294967294 -- NO_VAL; INFINITE is one more

local function known(number)
    return number ~= nil and number < UNKNOWN and number or nil
end

local function job_of(job)
    local mem, time = known(job.min_mem_per_node), known(job.time_limit)
    return {
        user = job.user_name,
        name = job.name,
        text = { mem = mem and written("mem", mem), time = time and written("time", time) },
        asked = { mem = mem, time = time },
        whole = job.shared == 0, -- --exclusive
        per_cpu = known(job.min_mem_per_cpu) ~= nil,
        per_gpu = job.mem_per_tres ~= nil,
        log = FOLDER .. "/decisions.jsonl",
        apply = function(option, amount)
            if option == "mem" then job.min_mem_per_node = amount else job.time_limit = amount end
        end,
        tell = function(text) slurm.log_user("%s", text) end,
    }
end

function slurm_job_submit(job, partitions, uid)
    return safely(function() return job_of(job) end)
end

function slurm_job_modify(job, record, partitions, uid)
    return slurm.SUCCESS
end
