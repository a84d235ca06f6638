package main

import (
	"reflect"
	"testing"
)

func TestParseBenchmarks(t *testing.T) {
	out := `goos: linux
BenchmarkFile/pain.001-4         	       1	5123456789 ns/op	        51.50 MB-heap	        88.31 MB/file	         3.500 s/file
--- BENCH: BenchmarkFile/pain.001-4
    bench_test.go:13: a log
PASS
`
	want := map[string]map[string]float64{"BenchmarkFile/pain.001": {"ns/op": 5123456789, "MB-heap": 51.5, "MB/file": 88.31, "s/file": 3.5}}
	if got, err := parseBenchmarks(out); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"PASS\n", "BenchmarkFile 1 soon ns/op\n"} {
		if got, err := parseBenchmarks(bad); err == nil {
			t.Errorf("%q: no error, but %v", bad, got)
		}
	}
}
