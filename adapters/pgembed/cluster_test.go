package pgembed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStart_RejectsOtherMajorVersion(t *testing.T) {
	t.Parallel()
	// Data of another major version is not changed. The error names the package to install.
	dir := initializedDir(t)
	version := filepath.Join(dir, clusterName, "PG_VERSION")
	if err := os.WriteFile(version, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	_, err := Start(t.Context(), Options{Dir: dir})

	if err == nil || !strings.Contains(err.Error(), "Postgres 9") || !strings.Contains(err.Error(), "postgresql-9") {
		t.Errorf("data of Postgres 9: %v", err)
	}
	if text, err := os.ReadFile(version); err != nil || string(text) != "9\n" {
		t.Errorf("the data was changed: %q, %v", text, err)
	}
}

func TestStart_RejectsPathWithoutCluster(t *testing.T) {
	t.Parallel()
	// A path that contains something else is rejected and not changed.
	cases := map[string]struct {
		create func(path string) error
		want   string
	}{
		"a link": {
			create: func(path string) error { return os.Symlink(t.TempDir(), path) },
			want:   "is not a folder",
		},
		"a file": {
			create: func(path string) error { return os.WriteFile(path, []byte("text"), 0o600) },
			want:   "is not a folder",
		},
		"a folder without a database": {
			create: func(path string) error { return os.Mkdir(path, 0o700) },
			want:   "contains no Postgres database",
		},
		"an invalid version": {
			create: func(path string) error {
				_ = os.Mkdir(path, 0o700)
				return os.WriteFile(filepath.Join(path, "PG_VERSION"), []byte("fifteen"), 0o600)
			},
			want: "not a supported version",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, clusterName)
			if err := c.create(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Start(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
				t.Errorf("it was changed: %v, %v", after, err)
			}
		})
	}
}

func TestStart_RemovesIncompleteCluster(t *testing.T) {
	t.Parallel()
	// A crash during the first start leaves a temporary folder. The next start removes it and
	// creates the database again.
	dir := t.TempDir()
	incomplete := filepath.Join(dir, clusterName+".new-123")
	if err := os.MkdirAll(filepath.Join(incomplete, "base"), 0o700); err != nil {
		t.Fatal(err)
	}

	s := startServer(t, Options{Dir: dir})

	connect(t, s.URL())
	if _, err := os.Stat(incomplete); !os.IsNotExist(err) {
		t.Errorf("the incomplete database still exists: %v", err)
	}
}

func TestStart_EncodingLocaleAndChecksums(t *testing.T) {
	t.Parallel()
	// The database uses UTF-8, the C locale and data checksums.
	conn := connect(t, startServer(t, Options{Dir: t.TempDir()}).URL())
	got := queryValue[string](t, conn, "SELECT pg_encoding_to_char(encoding) || ' ' || datcollate || ' ' || datctype || ' ' || "+
		"current_setting('data_checksums') FROM pg_database WHERE datname = current_database()")
	if got != "UTF8 C C on" {
		t.Errorf("the database is %s", got)
	}
}
