;; Conses that only registers and stacks refer to, conditions, throws, closures, buffers, regular expressions.
(setq gc-cons-threshold 100000)
(defun mdl-fib (n) (if (< n 2) n (+ (mdl-fib (- n 1)) (mdl-fib (- n 2)))))
(defun mdl-tree (n) (if (= n 0) nil (list (mdl-tree (- n 1)) (format "n%d" n) (mdl-tree (- n 1)))))
(defun mdl-count (tree) (if (consp tree) (+ 1 (mdl-count (car tree)) (length (cadr tree)) (mdl-count (nth 2 tree))) 0))
(let ((sum 0))
  (dotimes (round 25)
    (dotimes (i 300)
      (setq sum (+ sum (condition-case err
                           (catch 'out
                             (unwind-protect
                                 (mapc (lambda (k) (cond ((= k (% i 13)) (throw 'out k)) ((= k 11) (error "Error %d" i)))) '(0 2 4 6 8 10 11 12))
                               (setq sum (1+ sum)))
                             99)
                         (error (length (cadr err)))))))
    (setq sum (+ sum (mdl-count (mdl-tree 10)) (mdl-fib 15)))
    (with-temp-buffer
      (dotimes (i 800) (insert (format "%d word%d\n" (% (* i 7919) 50021) i)))
      (sort-numeric-fields 1 (point-min) (point-max))
      (goto-char (point-min))
      (while (re-search-forward "word\\([0-9]+\\)" nil t) (replace-match "w\\1"))
      (setq sum (+ sum (string-to-number (substring (secure-hash 'md5 (current-buffer)) 0 6) 16))))
    (setq sum (% (+ sum (length (sort (mapcar #'number-to-string (number-sequence 0 1500)) #'string<))) 1000000007)))
  (princ (format "sum %d\n" sum))
  (kill-emacs 6))
