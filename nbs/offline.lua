-- What Quarto leaves to be done when the pages are written.

-- It asks a public server for require.js and jQuery wherever a cell shows a table in HTML. Ours need neither.
local function without_requests(page)
  page = page:gsub('<script src="https://cdnjs%.cloudflare%.com/[^>]*></script>%s*', "")
  return (page:gsub("<script type=\"application/javascript\">define%('jquery'.-</script>%s*", ""))
end

-- Chromium leaves as much room around a bracket that may stretch as its tallest form would need.
-- Brackets around nothing tall need not stretch.
local function tight(formula)
  local open, low, at = {}, {}, 1
  while true do
    local first, last, form = formula:find('<mo stretchy="true" form="(%a+)">', at)
    if not first then break end
    if form == "prefix" then table.insert(open, first)
    elseif form == "postfix" and #open > 0 then
      local start = table.remove(open)
      local inside = formula:sub(start, first):gsub("<mover accent", "")
      if not (inside:find("<mfrac") or inside:find("<mover") or inside:find("<munder") or inside:find("<mtable")) then
        low[start], low[first] = true, true
      end
    end
    at = last + 1
  end
  return (formula:gsub('()<mo stretchy="true"', function(place) return low[place] and '<mo stretchy="false"' or nil end))
end

for path in (os.getenv("QUARTO_PROJECT_OUTPUT_FILES") or ""):gmatch("[^\n]+") do
  local file = path:match("%.html$") and io.open(path, "r")
  if file then
    local page = file:read("a")
    file:close()
    file = assert(io.open(path, "w"))
    file:write((without_requests(page):gsub("<math.-</math>", tight)))
    file:close()
  end
end

-- The index of the search: topics, public names and statements stand first.
local function read(path)
  local file = io.open(path, "r")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

local folder = os.getenv("QUARTO_PROJECT_OUTPUT_DIR") or "_docs"
local index, entries = read(folder .. "/search.json"), read("api/search_entries.json")
if index and entries and not index:find('"objectID": "index.html#install"', 1, true) then
  local own = entries:match("^%s*%[(.*)%]%s*$")
  local rest = index:match("^%s*%[(.*)$")
  if own and rest then
    local file = assert(io.open(folder .. "/search.json", "w"))
    file:write("[" .. own .. "," .. rest)
    file:close()
  end
end
