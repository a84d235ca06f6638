package main

import (
	"strings"
	"testing"
)

func TestRequestLog_ShownFields(t *testing.T) {
	t.Parallel()
	// The log of requests shows values of these fields, in these forms only; a new one is reviewed before it is added: its values must
	// not identify a person, and be no secret. What says something about a person in such a form is named in MaskWhole.
	server, err := unwiredAPI("")
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "request_log_fields.txt", strings.Join(server.ShownFields(), "\n")+"\n")
}
