-- Laziness, exceptions, threads, foreign calls that call back, collections.
{-# LANGUAGE ForeignFunctionInterface #-}
module Main (main) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as Map
import Foreign
import Foreign.C.Types
import System.Exit
import System.Mem
type Compare = Ptr CInt -> Ptr CInt -> IO CInt
foreign import ccall "wrapper" mkCompare :: Compare -> IO (FunPtr Compare)
foreign import ccall "stdlib.h qsort" qsort :: Ptr CInt -> CSize -> CSize -> FunPtr Compare -> IO ()
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
{-# NOINLINE fib #-}
sorted :: Int -> IO Int
sorted round = do
  compare' <- mkCompare (\a b -> do { x <- peek a; y <- peek b; return (fromIntegral (fromEnum (compare x y)) - 1) })
  r <- withArray [fromIntegral ((i * 7919 + round) `mod` 10007) | i <- [1 .. 500]] $ \p -> do
    qsort p 500 4 compare'
    xs <- peekArray 500 p
    return (sum (zipWith (*) [1 ..] (map fromIntegral xs)))
  freeHaskellFunPtr compare'
  return r
main :: IO ()
main = do
  total <- newMVar (0 :: Int)
  forM_ [1 .. 120] $ \round -> do
    let m = Map.fromList [((i * 7919 + round) `mod` 10007, show i) | i <- [1 .. 3000 :: Int]]
    done <- forM [1 .. 4 :: Int] $ \t -> do
      v <- newEmptyMVar
      _ <- forkIO (putMVar v $! sum (map length (Map.elems m)) + t)
      return v
    ts <- mapM takeMVar done
    caught <- foldM (\a i -> (+ a) <$> handle (\e -> return (length (show (e :: ErrorCall)))) (evaluate (if i `mod` 3 == 0 then error ("e" ++ show i) else i))) 0 [1 .. 500 :: Int]
    s <- sorted round
    when (round `mod` 10 == 0) performGC
    modifyMVar_ total (\x -> return $! (x + sum ts + caught + s + fib 20) `mod` 1000000007)
  readMVar total >>= \x -> putStrLn ("sum " ++ show x)
  exitWith (ExitFailure 6)
