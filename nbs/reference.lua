-- Keeps the pages readable as books: cells of nothing but imports or of entries for the command line
-- are folded, cells of nothing but comments dropped, and the reference entry that nbdev puts
-- behind an exported cell (rule, link to the source, heading, signature, docstring) becomes one line that opens.

local function only_imports(code)
  local found, open = false, false
  for line in (code .. "\n"):gmatch("(.-)\n") do
    if line:match("^from boostlit import") then return false  -- how a reader would begin
    elseif open then open = not line:find(")", 1, true)
    elseif line:match("^import ") or line:match("^from [%w_.]+ import ") then
      found, open = true, line:find("(", 1, true) and not line:find(")", 1, true)
    elseif not line:match("^%s*#") and not line:match("^%s*$") then return false end
  end
  return found
end

function CodeBlock(block)
  if not block.classes:includes("cell-code") or block.attributes["code-fold"] then return end
  local summary = only_imports(block.text) and "Imports" or block.text:match("^@reproduction") and "For the command `boostlit reproduce`"
  if summary then
    block.attributes["code-fold"] = "true"
    block.attributes["code-summary"] = summary
    return block
  end
end

-- nbdev's links to documented names start with the address of the site: within the site they need not
local site = "https://boostlit.github.io/boostlit/"
function Link(link)
  if link.target:sub(1, #site) == site and link.target:find("#_", 1, true) then return link.content end  -- private names have no entry
  if link.target:sub(1, #site) == site then
    link.target = (quarto.project.offset or ".") .. "/" .. link.target:sub(#site + 1)
    return link
  end
end

local function only_comments(code)
  for line in (code .. "\n"):gmatch("(.-)\n") do
    if not line:match("^%s*#") and not line:match("^%s*$") then return false end
  end
  return true
end

function Div(div)
  local block = div.content[1]
  if div.classes:includes("cell") and #div.content == 1 and block.t == "CodeBlock" and only_comments(block.text) then return {} end
end

local function source_link(block)
  if block and block.t == "Para" and #block.content == 1 then
    local link = block.content[1]
    if link.t == "Link" and pandoc.utils.stringify(link) == "source" then return link end
  end
end

local function entry(header, link, signature, doc)
  local head = { pandoc.RawInline("html", "<summary>"), pandoc.Code(pandoc.utils.stringify(header)), pandoc.Space() }
  if doc then for _, x in ipairs(doc.content) do table.insert(head, x) end end
  table.insert(head, pandoc.RawInline("html", "</summary>"))
  link.attributes.style = nil
  signature.text = signature.text:gsub("%[(`[^`]+`)%]%(https?://[^)%s]+%)", "%1")  -- comments of a signature are code, where a link is noise
  return pandoc.Div({ pandoc.RawBlock("html", "<details>"), pandoc.Plain(head), signature,
                      pandoc.Plain({ link }), pandoc.RawBlock("html", "</details>") }, pandoc.Attr(header.identifier, { "reference" }))
end

local function behind_code(block)
  return block and block.t == "Div" and (block.classes:includes("cell") or block.classes:includes("reference"))
end

function Blocks(blocks)
  local out, first, i = pandoc.List(), 1, 1
  while i <= #blocks do
    local link, header, signature = source_link(blocks[i + 1]), blocks[i + 2], blocks[i + 3]
    if blocks[i].t == "HorizontalRule" and behind_code(out[#out]) and link and header and header.t == "Header" and signature and signature.t == "CodeBlock" then
      local doc = blocks[i + 4]
      local said = doc and doc.t == "Para" and doc.content[1].t == "Emph" and 1 or 0
      if pandoc.utils.stringify(doc or "") == "Call self as a function." then doc = nil end
      out:insert(first, entry(header, link, signature, said == 1 and doc or nil))  -- nbdev lists the names of a cell backwards
      i = i + 4 + said
    else
      out:insert(blocks[i])
      first = #out + 1
      i = i + 1
    end
  end
  return out
end
