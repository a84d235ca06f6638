package storagetest

import (
	"encoding/json"
	"testing"
)

// PagesOf returns how many pages a statement has read, by the output of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON).
func PagesOf(t testing.TB, explained string) int {
	t.Helper()
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal([]byte(explained), &plans); err != nil || len(plans) == 0 {
		t.Fatalf("%v: %s", err, explained)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}
