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

-- A story has no plumbing: long definitions are folded behind their name, in engine rooms and in the laboratory all but the shortest.
local function plumbing(code)
  local name = ("\n" .. code):match("\ndef ([%w_]+)") or ("\n" .. code):match("\nclass ([%w_]+)")
  local page = quarto.doc and quarto.doc.input_file or ""
  local most = (page:match("kernels%.ipynb$") or page:match("[/\\]lab[/\\]")) and 7 or 29
  local lines = select(2, code:gsub("\n", "\n")) + 1
  return name and lines > most and "`" .. name .. "`, " .. lines .. " lines"
end

function CodeBlock(block)
  if not block.classes:includes("cell-code") or block.attributes["code-fold"] then return end
  local summary = only_imports(block.text) and "Imports" or block.text:match("^@reproduction") and "For the command `boostlit reproduce`"
    or plumbing(block.text)
  if summary then
    block.attributes["code-fold"] = "true"
    block.attributes["code-summary"] = summary
    return block
  end
end

-- Equations, theorems and their kin carry an anchor that JupyterLab can follow: <a id="eq-…"></a> behind a
-- display formula, <a id="thm-…"></a> in front of a statement. On the site the anchor goes around what it names,
-- so that a link to it can show it on hover.
local statements = { thm = "theorem", lem = "lemma", prp = "proposition", cor = "corollary", def = "definition",
                     alg = "algorithm", err = "erratum" }

local function anchor(inline)
  return inline and inline.t == "RawInline" and inline.format:match("html") and inline.text:match('^<a id="([%w_-]+)">$')
end

local function closing(inline)
  return inline and inline.t == "RawInline" and inline.text == "</a>"
end

local function blank(inline)
  return inline and (inline.t == "Space" or inline.t == "SoftBreak")
end

-- a formula and the anchor behind it become one span
local function numbered(inlines)
  local out, i = pandoc.List(), 1
  while i <= #inlines do
    local formula, at = inlines[i], i + 1
    if formula.t == "Math" and formula.mathtype == "DisplayMath" then
      while blank(inlines[at]) do at = at + 1 end
      local id = anchor(inlines[at])
      if id and id:match("^eq%-") and closing(inlines[at + 1]) then
        out:insert(pandoc.Span({ formula }, pandoc.Attr(id, { "equation" })))
        i = at + 2
      else
        out:insert(formula)
        i = i + 1
      end
    else
      out:insert(formula)
      i = i + 1
    end
  end
  return out
end

function Para(para)
  local id = anchor(para.content[1])
  local kind = id and statements[id:match("^(%a+)%-") or ""]
  if kind and closing(para.content[2]) then
    local rest = pandoc.List()
    for k = 3, #para.content do rest:insert(para.content[k]) end
    -- raw HTML: Quarto takes a Div with such an id for a theorem of its own, too late for one, and stops
    return { pandoc.RawBlock("html", '<div id="' .. id .. '" class="theorem ' .. kind .. '">'),
             pandoc.Para(numbered(rest)), pandoc.RawBlock("html", "</div>") }
  end
  para.content = numbered(para.content)
  return para
end

local function is_reference(target)
  local kind = target:match("#(%a+)%-[%w_-]+$")
  return kind and (statements[kind] or kind == "eq" or kind == "fig" or kind == "tbl")
end

-- nbdev's links to documented names start with the address of the site: within the site they need not
local site = "https://boostlit.github.io/boostlit/"

-- a public name has a page of the reference of its own
local function has_page(name)
  if not name:match("^[%w_]+$") then return false end
  local folder = quarto.project and quarto.project.directory or "."
  local file = io.open(folder .. "/api/" .. name .. ".qmd")
  if file then file:close() end
  return file ~= nil
end

function Link(link)
  local name = pandoc.utils.stringify(link)
  if #link.content == 1 and link.content[1].t == "Math" then link.attributes["aria-label"] = name end  -- readers of the screen skip formulas
  if link.target:sub(1, #site) == site and has_page(name) then
    link.target = (quarto.project.offset or ".") .. "/api/" .. name .. ".html"
    return link
  end
  if is_reference(link.target) and not link.classes:includes("quarto-xref") then
    link.classes:insert("quarto-xref")
    return link
  end
  if link.target:sub(1, #site) == site and link.target:find("#_", 1, true) then return link.content end  -- private names have no entry
  if link.target:sub(1, #site) == site then
    link.target = (quarto.project.offset or ".") .. "/" .. link.target:sub(#site + 1)
    return link
  end
  return link
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
  -- what opens an entry is itself something to press: no links in it
  local plain = doc and doc.content:walk({ Link = function(l) return l.content end }) or {}
  for _, x in ipairs(plain) do table.insert(head, x) end
  table.insert(head, pandoc.RawInline("html", "</summary>"))
  link.attributes.style = nil
  signature.text = signature.text:gsub("%[(`[^`]+`)%]%(https?://[^)%s]+%)", "%1")  -- comments of a signature are code, where a link is noise
  return pandoc.Div({ pandoc.RawBlock("html", "<details>"), pandoc.Plain(head), signature,
                      pandoc.Plain({ link }), pandoc.RawBlock("html", "</details>") }, pandoc.Attr(header.identifier, { "reference" }))
end

local function behind_code(block)
  return block and block.t == "Div" and (block.classes:includes("cell") or block.classes:includes("reference"))
end

local function shows_formula(block)
  local head = block and block.t == "Para" and block.content[1]
  return head and (head.t == "Math" and head.mathtype == "DisplayMath"
                   or head.t == "Span" and head.classes:includes("equation"))
end

-- a statement ends behind the formula that it leads to
local function with_formulas(blocks)
  local open = false
  for i = 1, #blocks do
    local text = blocks[i].t == "RawBlock" and blocks[i].text or ""
    if text:match('^<div id="[%w_-]+" class="theorem ') then open = true
    elseif open and text == "</div>" then
      if shows_formula(blocks[i + 1]) then blocks[i], blocks[i + 1] = blocks[i + 1], blocks[i]
      else open = false end
    end
  end
  return blocks
end

function Blocks(blocks)
  blocks = with_formulas(blocks)
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
