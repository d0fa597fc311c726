-- Quarto asks a public server for require.js and jQuery wherever a cell shows a table in HTML. Ours need neither.
for path in (os.getenv("QUARTO_PROJECT_OUTPUT_FILES") or ""):gmatch("[^\n]+") do
  local file = io.open(path, "r")
  local page = path:match("%.html$") and file and file:read("a")
  if file then file:close() end
  if page and page:find("cdnjs.cloudflare.com", 1, true) then
    page = page:gsub('<script src="https://cdnjs%.cloudflare%.com/[^>]*></script>%s*', "")
    page = page:gsub("<script type=\"application/javascript\">define%('jquery'.-</script>%s*", "")
    file = assert(io.open(path, "w"))
    file:write(page)
    file:close()
  end
end
