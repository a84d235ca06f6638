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
	// The programs of the wanted version are found wherever they are; with no wish,
	// PATH comes before Debian's folders, and the newest of those first.
	root := t.TempDir()
	install := func(version string) string {
		dir := filepath.Join(root, version, "bin")
		for _, program := range []string{"initdb", "postgres"} {
			writeProgram(t, filepath.Join(dir, program), "echo 'postgres (PostgreSQL) "+version+".4 (Debian "+version+".4-1)'")
		}
		return dir
	}
	v9, v15, v16, v17 := install("9"), install("15"), install("16"), install("17")
	half := filepath.Join(root, "half", "bin")
	writeProgram(t, filepath.Join(half, "postgres"), "echo 'postgres (PostgreSQL) 18.0'")
	odd := filepath.Join(root, "odd", "bin")
	writeProgram(t, filepath.Join(odd, "postgres"), "echo 'something else'")
	writeProgram(t, filepath.Join(odd, "initdb"), "exit 1")
	debian := filepath.Join(root, "1*", "bin")

	cases := []struct {
		about             string
		named, path, glob string
		major             int
		want, wantErr     string
	}{
		{about: "the newest of Debian's", glob: debian, want: v17},
		{about: "PATH first", path: v15 + ":/nonexistent", glob: debian, want: v15},
		{about: "the version of the data", path: v15, glob: debian, major: 16, want: v16},
		{about: "a folder without initdb is none", path: half, glob: debian, want: v17},
		{about: "programs that say something else", path: odd, glob: debian, want: v17},
		{about: "a named folder is the only one", named: v16, path: v15, glob: debian, want: v16},
		{about: "a named folder of another version", named: v16, glob: debian, major: 15, wantErr: "postgresql-15"},
		{about: "too old", path: v9, glob: "/nonexistent/*", wantErr: "need Postgres 15 or newer, found only version 9"},
		{about: "nothing at all", glob: "/nonexistent/*", wantErr: "apt-get install postgresql"},
		{about: "nothing for the data", glob: "/nonexistent/*", major: 15, wantErr: "postgresql-15"},
	}
	for _, c := range cases {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			got, err := choosePrograms(programFolders(c.named, c.path, c.glob), c.major)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("answers %v, want %q in it", err, c.wantErr)
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
	// Only what postgres itself says of itself is a version.
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

// writeProgram writes a script, through another process for the reason that
// everyonesProgram gives.
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
