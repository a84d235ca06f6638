package pgembed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStart_RejectsOtherMajorVersion(t *testing.T) {
	t.Parallel()
	// Data of another Postgres is not touched; the error says which package runs it.
	dir := initializedDir(t)
	version := filepath.Join(dir, clusterName, "PG_VERSION")
	if err := os.WriteFile(version, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	_, err := Start(t.Context(), Options{Dir: dir})

	if err == nil || !strings.Contains(err.Error(), "Postgres 9") || !strings.Contains(err.Error(), "postgresql-9") {
		t.Errorf("data of Postgres 9 answers %v", err)
	}
	if text, err := os.ReadFile(version); err != nil || string(text) != "9\n" {
		t.Errorf("the data was touched: %q, %v", text, err)
	}
}

func TestStart_RejectsPathWithoutCluster(t *testing.T) {
	t.Parallel()
	// A place that holds something else is refused with a reason, and left alone.
	cases := map[string]struct {
		put  func(path string) error
		want string
	}{
		"a link": {
			put:  func(path string) error { return os.Symlink(t.TempDir(), path) },
			want: "is not a folder",
		},
		"a file": {
			put:  func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
			want: "is not a folder",
		},
		"somebody's folder": {
			put:  func(path string) error { return os.Mkdir(path, 0o700) },
			want: "holds no Postgres database",
		},
		"a version that is none": {
			put: func(path string) error {
				_ = os.Mkdir(path, 0o700)
				return os.WriteFile(filepath.Join(path, "PG_VERSION"), []byte("fifteen"), 0o600)
			},
			want: "no version we can run",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, clusterName)
			if err := c.put(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Start(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("answers %v, want %q in it", err, c.want)
			}
			if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
				t.Errorf("it was touched: %v, %v", after, err)
			}
		})
	}
}

func TestStart_RemovesIncompleteCluster(t *testing.T) {
	t.Parallel()
	// A crash in the middle of the first start leaves a folder that is not in its
	// place yet: the next start removes it and makes another.
	dir := t.TempDir()
	half := filepath.Join(dir, clusterName+".new-123")
	if err := os.MkdirAll(filepath.Join(half, "base"), 0o700); err != nil {
		t.Fatal(err)
	}

	s := startServer(t, Options{Dir: dir})

	connect(t, s.URL())
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half-made database is still there: %v", err)
	}
}

func TestStart_EncodingLocaleAndChecksums(t *testing.T) {
	t.Parallel()
	// UTF-8, sorted by bytes on every machine alike, with checksums.
	conn := connect(t, startServer(t, Options{Dir: t.TempDir()}).URL())
	got := queryValue[string](t, conn, "SELECT pg_encoding_to_char(encoding) || ' ' || datcollate || ' ' || datctype || ' ' || current_setting('data_checksums') FROM pg_database WHERE datname = current_database()")
	if got != "UTF8 C C on" {
		t.Errorf("the database is %s", got)
	}
}
