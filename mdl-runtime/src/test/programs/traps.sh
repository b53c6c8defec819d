# bash with traps.
ulimit -c 0
trap 'echo exit $?' EXIT
trap 'echo term' TERM
trap 'usr1=$((usr1 + 1))' USR1
trap 'chld=$((chld + 1))' CHLD
trap 'echo error $?' ERR
usr1=0 chld=0

for i in {1..100}; do kill -USR1 $$; done
echo usr1 $usr1
kill -TERM $$
for i in {1..20}; do (kill -USR1 $$); done
echo usr1 $usr1
for i in {1..20}; do /bin/true; done
echo chld $((chld > 0))
trap - CHLD
false

(trap 'echo exit of a subshell' EXIT; echo in it)
(trap 'echo its term; exit 3' TERM; kill -TERM $BASHPID; echo never)
echo $?
(trap - TERM; kill -TERM $BASHPID; echo never)
echo $?
bash -c 'trap "echo exit" EXIT; kill -HUP $$; echo never'
echo $?
bash -c 'trap "" TERM; kill -TERM $$; echo alive; exec bash -c "kill -TERM \$\$; echo still alive"'
for signal in ABRT SEGV BUS FPE ILL TRAP USR2 ALRM PIPE XFSZ XCPU KILL; do
  bash -c "kill -$signal \$\$; echo never"
  echo $signal $?
done
for signal in SEGV BUS FPE ILL TRAP USR2 ALRM PIPE XFSZ; do
  bash -c "trap 'echo trapped $signal' $signal; kill -$signal \$\$; echo went on"
done

# Only once it is another program: a forked bash has these traps for a moment.
bash -c 'echo ready; exec sleep 60' >started &
until [ -s started ]; do sleep 0.05; done
kill -TERM $!
wait $!
echo waited $?
bash -c 'trap "echo woken; kill \$!; exit 4" USR1; echo ready; sleep 60 & wait' >woken &
until [ -s woken ]; do sleep 0.05; done
kill -USR1 $!
wait $!
echo waited $?
cat woken

yes | head -n 1
echo ${PIPESTATUS[*]}
trap '' PIPE
yes 2>/dev/null | head -n 1
echo ${PIPESTATUS[*]}
diff <(seq 5) <(seq 6)
coproc cat
echo through a coprocess >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
ulimit -n -s -u -v
umask
env | grep -vE '^(LD_PRELOAD|MDL_OPTIONS)=' | sort
cat <<-END
	here $(echo document)
END
trap
exec bash -c 'echo end; exit 6'
