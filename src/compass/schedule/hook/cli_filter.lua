-- Compass at submit time: looks up what similar jobs needed (CliFilterPlugins=cli_filter/lua).
-- Runs inside sbatch, salloc and srun of a person, never inside slurmctld. Whatever goes wrong, the
-- job is submitted as it was asked for.
local FOLDER = "@FOLDER@"
local LARGEST_LOG = 64 * 1024 * 1024

local function exists(path)
    local file = io.open(path, "r")
    if file then file:close() end
    return file ~= nil
end

local function json(text)
    local escaped = text:gsub('[%c"\\\127-\255]', function(c)
        return string.format("\\u%04x", c:byte())
    end)
    return '"' .. escaped .. '"'
end

local function application(name)
    if name == nil or name == "" then return nil end
    if #name >= 32 and not name:find("[^0-9a-f]") then return nil end
    return (name:gsub("%d%d%d+", "#"))
end

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

local function written(option, value)
    if option == "mem" then return string.format("%dM", value) end
    return string.format("%d-%02d:%02d:00", math.floor(value / 1440),
        math.floor(value % 1440 / 60), value % 60)
end

local function log(where, line)
    local file = io.open(where, "a")
    if not file then return end
    if (file:seek("end") or 0) < LARGEST_LOG then file:write(line, "\n") end
    file:close()
end

local function decide(entry, option, asked)
    local amount, least = entry[option], entry[option .. "_least"]
    if amount == nil then return nil, "no amount can be stated" end
    if asked == nil then return amount, "nothing was asked for" end
    if asked <= 0 then return nil, "all of it is asked for" end
    if asked * 0.9 > amount then return amount, "similar jobs need less" end
    if asked < least then return amount, "similar jobs need more" end
    return nil, "what is asked fits"
end

local function advise(options)
    if exists(FOLDER .. "/off") then return end
    local build = assert(loadfile(FOLDER .. "/table.lua"))
    local table_ = build()
    local user = os.getenv("USER") or os.getenv("LOGNAME")
    local name = application(options["job-name"])
    if user == nil or name == nil then return end
    local home = os.getenv("HOME") or "/tmp"
    local where = table_.log or (home .. "/.compass-hook.jsonl")
    local head = string.format('{"at":%d,"user":%s,"application":%s,"mode":%s,"table":%s,"compass":%s',
        os.time(), json(user), json(name), json(table_.mode), json(table_.id), json(table_.compass))
    if os.time() - table_.built > table_.longest then
        log(where, head .. ',"why":"the table is too old"}')
        return
    end
    local entry = table_.jobs[user .. "\0" .. name]
    if entry == nil then
        log(where, head .. ',"why":"no similar past job"}')
        return
    end
    for _, option in ipairs({ "mem", "time" }) do
        local text = options[option]
        local asked = option == "mem" and mebibytes(text) or option == "time" and minutes(text) or nil
        local per_cpu = option == "mem" and mebibytes(options["mem-per-cpu"])
        local amount, why = decide(entry, option, asked)
        if per_cpu then amount, why = nil, "memory is asked for per CPU" end
        local applied = false
        if amount and table_.mode == "enforce" then
            options[option] = written(option, amount)
            applied = true
        end
        if amount and table_.mode ~= "observe" then
            slurm.log_info("compass: --%s=%s %s: %s (%d similar jobs, too little for %d %%)", option,
                written(option, amount), applied and "is asked for" or "would do", why,
                entry.similar, math.ceil(entry.risk * 100))
        end
        log(where, string.format('%s,"option":"%s","asked":%s,"advised":%s,"applied":%s,"risk":%s,"similar":%d,"why":%s}',
            head, option, text and json(text) or "null",
            amount and json(written(option, amount)) or "null", tostring(applied),
            tostring(entry.risk), entry.similar, json(why)))
    end
end

function slurm_cli_setup_defaults(options, early_pass)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    local fine, problem = pcall(advise, options)
    if not fine then pcall(slurm.log_debug, "compass: %s", tostring(problem)) end
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
    return slurm.SUCCESS
end
