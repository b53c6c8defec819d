# make -j2 builds Lua from Debian's sources.
cp -r "$SOURCES/src" .
make -j2 -C src posix CC=gcc MYCFLAGS=-O0 >lines
echo $?
sort lines
sha256sum src/*.o src/*.a src/lua src/luac
make -C src posix CC=gcc MYCFLAGS=-O0
cat >work.lua <<'END'
local words = {}
for line in io.lines("src/lua.h") do
  for word in line:gmatch("%a+") do words[#words + 1] = word end
end
table.sort(words)
print(#words, words[1], words[#words])
print(pcall(error, "caught"))
os.exit(select(2, io.popen("exit 7"):close()) == "exit" and 42)
END
src/luac -o work.out work.lua
echo $?
src/lua work.out
echo $?
echo end
