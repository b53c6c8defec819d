# git: commits, a hook, a conflict, packing with threads, a clone through upload-pack.
export GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='1700000000 +0000'
export GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org GIT_COMMITTER_DATE='1700000000 +0000'
git init -b main scratch >/dev/null
echo $?
cd scratch || exit
printf '#!/bin/sh\necho hook: $(git diff --cached --name-only)\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
for i in {1..5}; do
  seq $((i * 10000)) >numbers
  echo $i >file$i
  git add -A
  git commit -m "commit $i"
done
git checkout -b other HEAD~1
echo theirs >file5
git add -A
git commit -q -m other
git merge main
echo $?
git status --short
git merge --abort
git log --all --graph --stat
git log -p | head -n 3
echo ${PIPESTATUS[*]}
git grep -c 99
git -c pack.threads=2 gc -q
git fsck --strict 2>&1
git clone -q "file://$PWD" ../copy
git -C ../copy log --format='%H %s' | sha256sum
git no-such-command
echo $?
echo end
