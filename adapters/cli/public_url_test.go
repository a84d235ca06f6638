package cli

import "testing"

func TestPublicURL_OfTheDataFolder(t *testing.T) {
	t.Parallel()
	// The URL that is printed is the one that is set or, for the private Postgres, that of the service of the data folder.
	folder := t.TempDir()
	if err := (DataFlag{Data: folder}).SaveCredentials(Credentials{BaseURL: "http://localhost:9000/2025-10-13"}); err != nil {
		t.Fatal(err)
	}
	of := func(data, database string) DatabaseFlags {
		f := DatabaseFlags{DatabaseURL: database}
		f.Data = data
		return f
	}
	for name, c := range map[string]struct {
		set  string
		of   DatabaseFlags
		want string
	}{
		"set":              {"https://pay.example.com/", of(folder, ""), "https://pay.example.com"},
		"data folder":      {"", of(folder, ""), "http://localhost:9000"},
		"another database": {"", of(folder, "postgres://db"), "http://localhost:8080"},
		"no data folder":   {"", of(t.TempDir(), ""), "http://localhost:8080"},
	} {
		if got := (publicURLFlag{c.set}).publicURL(c.of); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
