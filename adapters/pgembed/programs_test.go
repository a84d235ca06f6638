package pgembed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestChoosePrograms(t *testing.T) {
	t.Parallel()
	// Programs of a given version are found in any folder. Without one, PATH comes before Debian's
	// folders, and the newest of those is chosen.
	root := t.TempDir()
	install := func(version string) string {
		dir := filepath.Join(root, version, "bin")
		for _, program := range []string{"initdb", "postgres"} {
			writeProgram(t, filepath.Join(dir, program), "echo 'postgres (PostgreSQL) "+version+".4 (Debian "+version+".4-1)'")
		}
		return dir
	}
	v9, v15, v16, v17 := install("9"), install("15"), install("16"), install("17")
	incomplete := filepath.Join(root, "half", "bin")
	writeProgram(t, filepath.Join(incomplete, "postgres"), "echo 'postgres (PostgreSQL) 18.0'")
	other := filepath.Join(root, "odd", "bin")
	writeProgram(t, filepath.Join(other, "postgres"), "echo 'something else'")
	writeProgram(t, filepath.Join(other, "initdb"), "exit 1")
	debian := filepath.Join(root, "1*", "bin")

	cases := []struct {
		name                   string
		configured, path, glob string
		major                  int
		want, wantErr          string
	}{
		{name: "the newest of Debian's", glob: debian, want: v17},
		{name: "PATH first", path: v15 + ":/nonexistent", glob: debian, want: v15},
		{name: "the version of the data", path: v15, glob: debian, major: 16, want: v16},
		{name: "folder without initdb", path: incomplete, glob: debian, want: v17},
		{name: "programs with other output", path: other, glob: debian, want: v17},
		{name: "configured folder is the only one", configured: v16, path: v15, glob: debian, want: v16},
		{name: "configured folder of another version", configured: v16, glob: debian, major: 15, wantErr: "postgresql-15"},
		{name: "too old", path: v9, glob: "/nonexistent/*", wantErr: "need Postgres 15 or newer, found only version 9"},
		{name: "no programs", glob: "/nonexistent/*", wantErr: "apt-get install postgresql"},
		{name: "no programs for the data", glob: "/nonexistent/*", major: 15, wantErr: "postgresql-15"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := choosePrograms(programFolders(c.configured, c.path, c.glob), c.major)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("got %v, want %q", err, c.wantErr)
				}
				return
			}
			if err != nil || got.dir != c.want {
				t.Errorf("found %v (%v), want %s", got, err, c.want)
			}
		})
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	// Only the output of postgres --version is accepted.
	for line, want := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": 15,
		"postgres (PostgreSQL) 18beta1":                          18,
		"postgres (PostgreSQL) 9.6.24":                           9,
		"psql (PostgreSQL) 15.18":                                0,
		"postgres (PostgreSQL) devel":                            0,
		"postgres (PostgreSQL) 99999999999999999999":             0,
		"": 0,
	} {
		if got, ok := parseVersion(line); ok != (want != 0) || (ok && got != want) {
			t.Errorf("parseVersion(%q) = %d, %v; want %d", line, got, ok, want)
		}
	}
}

// writeProgram writes a script through another process; sharedTestBinary says why.
func writeProgram(t *testing.T, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("install", "-m", "0755", "/dev/stdin", path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + script + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
