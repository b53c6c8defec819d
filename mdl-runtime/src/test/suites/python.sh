# python3.11: of its modules' tests not those of processes, threads, sockets and time, nor those of many seconds, nor
# sort's, which sorts at random.
tests='abc array augassign base64 baseexception binascii binop bisect bool builtin bytes cmath codeccallbacks
  collections compare complex configparser contains copy csv decorators defaultdict deque dict dictviews difflib dis
  enum enumerate except_star exception_group extcall float fnmatch format fractions frame genericalias genexps
  getopt grammar graphlib heapq hmac html htmlparser index int ipaddress isinstance iter json keywordonlyarg list
  listcomps longexp marshal math memoryio memoryview metaclass minidom named_expressions numeric_tower operator
  optparse peepholer plistlib positional_only_arg pow pprint property pyexpat queue quopri range re reprlib richcmp
  scope set setcomps shelve shlex slice string string_literals struct structseq super symtable syntax
  sys_setprofile textwrap tuple types unary unicode unpack urlparse userdict userlist userstring weakset with xdrlib
  yield_from'
LD_PRELOAD=$AGENT python3.11 -m test -v $(printf ' test_%s' $tests) 2>&1 |
  sed -E 's/^[0-9:]+ load avg: [0-9.]+ //; s/ -- test_.*//; s/ in [0-9.]+s$//; s/0x[0-9a-f]{6,}/ADDRESS/g
    s/test_python_[0-9]+/test_python/; /^Total duration/d'
echo "status ${PIPESTATUS[0]}"
