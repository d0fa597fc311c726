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

-- The index of the search. Quarto's has every line of code and every formula twice and is too large to load.
-- Ours has topics, public names and statements first, then the headings with the words below them.
local MOST = 900  -- characters of a section

local function read(path)
  local file = io.open(path, "r")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

local function words(html)
  for _, tag in ipairs({ "pre", "math", "summary", "table", "script", "style", "svg", "nav" }) do
    html = html:gsub("<" .. tag .. "[%s>].-</" .. tag .. ">", " ")
  end
  html = html:gsub("<!%-%-.-%-%->", " "):gsub("<[^>]*>", " ")
  html = html:gsub("&nbsp;", " "):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
  return (html:gsub("%s+", " "):gsub(" ([,.;:!?)])", "%1"):gsub("^ ", ""):gsub(" $", ""))
end

-- not in the middle of a character
local function shortened(text)
  if #text <= MOST then return text end
  return (text:sub(1, MOST):gsub("[\128-\255]*$", ""):gsub("%S*$", ""))
end

local function title_of(html)
  return words(html:match('<h1 class="title">(.-)</h1>') or html:match("<title>(.-)</title>") or "")
end

-- {anchor, heading, words} of a page: what stands before the first heading, then section by section
local function sections(html)
  local main = html:match("<main.-</main>") or ""
  main = main:gsub('<div class="view%-switch".-</div>', "")
  local found, at, anchor, heading = {}, 1, "", ""
  while true do
    local first, last, id, text = main:find('<h[2-4][^>]-data%-anchor%-id="([^"]+)"[^>]*>(.-)</h[2-4]>', at)
    table.insert(found, { anchor, heading, main:sub(at, (first or 0) - 1) })
    if not first then return found end
    at, anchor, heading = last + 1, id, words(text)
  end
end

local function slim(rows, folder)
  local out, seen, crumbs = {}, {}, {}
  for _, row in ipairs(rows) do
    local page = row.href:match("^[^#]+")
    if row.crumbs and not crumbs[page] then crumbs[page] = row.crumbs end
  end
  for _, row in ipairs(rows) do
    local page = row.href:match("^[^#]+")
    local html = not seen[page] and read(folder .. "/" .. page)
    seen[page] = true
    if html then
      local title = title_of(html)
      for _, part in ipairs(sections(html)) do
        local href = page .. (part[1] ~= "" and "#" .. part[1] or "")
        table.insert(out, { objectID = href, href = href, title = title, section = part[2],
                            text = shortened(words(part[3])), crumbs = crumbs[page] })
      end
    end
  end
  return out
end

local folder = os.getenv("QUARTO_PROJECT_OUTPUT_DIR") or "_docs"
local index, entries = read(folder .. "/search.json"), read("api/search_entries.json")
if index and entries then
  local rows = pandoc.json.decode(index, false)
  local all = pandoc.json.decode(entries, false)
  local own = {}
  for _, row in ipairs(all) do own[row.objectID] = true end
  for _, row in ipairs(slim(rows, folder)) do
    if not own[row.objectID] then table.insert(all, row) end
  end
  local file = assert(io.open(folder .. "/search.json", "w"))
  file:write(pandoc.json.encode(all))
  file:close()
end
