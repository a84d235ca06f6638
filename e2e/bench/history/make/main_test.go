package main

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/ident"
	"causeway/e2e/bench/history"
)

func TestParse(t *testing.T) {
	// An error names the wrong flag.
	t.Parallel()
	for args, want := range map[string]string{
		"--entries 999": "--entries", "--entries 1000000001": "--entries", "--months 0": "--months", "--months 121": "--months",
		"--platform Platform:1": "-platform", "--unknown": "-unknown", "--months 2 more": "more",
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	o, err := parse(strings.Fields("--database x --entries 5000 --months 3 --platform PlatformConfig:0199f0a2-0000-7000-8000-000000000001"),
		io.Discard)
	if err != nil || o.URL != "x" || o.Entries != 5000 || o.Months != 3 || o.Platform.IsZero() {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestRun_CreatesPlatformAndWritesLedger(t *testing.T) {
	// A platform is created and its postings are written. A second history on the same
	// platform is rejected.
	t.Parallel()
	o := options{Options: history.Options{URL: pgtest.New(t), Entries: 1_000, Months: 1}}
	var out bytes.Buffer

	if err := run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}

	printed := regexp.MustCompile(
		`(?s)^platform  (PlatformConfig:\S+)\nclient    \S+\nsecret    \S+\nwrote     1000 entries, .*entries/s\n$`).FindStringSubmatch(
		out.String())
	if printed == nil {
		t.Fatalf("printed %s", &out)
	}
	var err error
	if o.Platform, err = ident.ParsePlatform(printed[1]); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("the second history: %v", err)
	}
}

func TestRun_MissingDatabase(t *testing.T) {
	// The error about a missing folder says what to do.
	t.Parallel()
	err := run(t.Context(), options{Options: history.Options{Entries: 1_000, Months: 1}, data: filepath.Join(t.TempDir(), "none")}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--data") {
		t.Error(err)
	}
}
