local FOLDER = "@FOLDER@"
local LARGEST_LOG = 64 * 1024 * 1024
local KEPT = 60 -- seconds for which a table is kept where a script lives on

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

local loaded, loaded_at

local function the_table()
    local age = loaded_at and os.time() - loaded_at
    if not age or age < 0 or age >= KEPT then
        local build = assert(loadfile(FOLDER .. "/table.lua"))
        loaded, loaded_at = build(), os.time()
    end
    return loaded
end

-- What stands against changing an option of this job; nil: nothing.
local function kept(job, option)
    if option ~= "mem" then return nil end
    if job.whole then return "whole nodes are asked for" end
    if job.per_cpu then return "memory is asked for per CPU" end
    if job.per_gpu then return "memory is asked for per GPU" end
    return nil
end

-- Looks a job up, writes down what is decided, tells it and asks for it, as the mode says.
-- job: user, name, asked (MiB, minutes), text (the same as written), whole, per_cpu, per_gpu, log;
-- apply(option, amount) asks for something else, tell(text) tells the person.
local function consider(job)
    if exists(FOLDER .. "/off") then return end
    local table_ = the_table()
    local name = application(job.name)
    if job.user == nil or name == nil then return end
    local where = table_.log or job.log
    local head = string.format('{"at":%d,"user":%s,"application":%s,"mode":%s,"table":%s,"compass":%s',
        os.time(), json(job.user), json(name), json(table_.mode), json(table_.id), json(table_.compass))
    if os.time() - table_.built > table_.longest then
        log(where, head .. ',"why":"the table is too old"}')
        return
    end
    local entry = table_.jobs[job.user .. "\0" .. name]
    if entry == nil then
        log(where, head .. ',"why":"no similar past job"}')
        return
    end
    for _, option in ipairs({ "mem", "time" }) do
        local text = job.text[option]
        local amount, why = decide(entry, option, job.asked[option])
        local stays = kept(job, option)
        if stays then amount, why = nil, stays end
        local applied = false
        if amount and table_.mode == "enforce" then
            job.apply(option, amount)
            applied = true
        end
        if amount and table_.mode ~= "observe" then
            job.tell(string.format("compass: --%s=%s %s: %s (%d similar jobs, too little for %d %%)",
                option, written(option, amount), applied and "is asked for" or "would do", why,
                entry.similar, math.ceil(entry.risk * 100)))
        end
        log(where, string.format('%s,"option":"%s","asked":%s,"advised":%s,"applied":%s,"risk":%s,"similar":%d,"why":%s}',
            head, option, text and json(text) or "null",
            amount and json(written(option, amount)) or "null", tostring(applied),
            tostring(entry.risk), entry.similar, json(why)))
    end
end

-- Whatever goes wrong, the job is submitted as it was asked for.
local function safely(job_of)
    local fine, problem = pcall(function() consider(job_of()) end)
    if not fine then pcall(slurm.log_debug, "compass: %s", tostring(problem)) end
    return slurm.SUCCESS
end
