package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

func TestCheckInclusion(t *testing.T) {
	// A proof that leads to the root of its checkpoint is accepted; any other is an error.
	t.Parallel()
	leaves := [][]byte{[]byte("one"), []byte("two")}
	first, second := tlog.RecordHash(leaves[0]), tlog.RecordHash(leaves[1])
	root := tlog.NodeHash(first, second)
	text := func(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
	good := fmt.Sprintf(`{"leafIndex":1,"leaf":%q,"hashes":[%q],"checkpoint":{"size":2,"rootHash":%q}}`, text(leaves[1]),
		text(first[:]), text(root[:]))

	if err := checkInclusion([]byte(good)); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]string{
		"another leaf": strings.Replace(good, text(leaves[1]), text(leaves[0]), 1), "another place": strings.Replace(good, `"leafIndex":1`,
			`"leafIndex":0`, 1),
		"no root": strings.Replace(good, text(root[:]), "", 1), "no JSON": good[1:],
	} {
		if checkInclusion([]byte(wrong)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
