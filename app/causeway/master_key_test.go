package main

import (
	"os"
	"path/filepath"
	"testing"

	"causeway/adapters/encryption"
)

func TestCipher_UsesKeyOfEnvironmentOrDataFolder(t *testing.T) {
	// A command without a setting for the master key reads personal data with the key of the
	// environment, of the file that it names or, without a database URL, of the data folder.
	t.Setenv(masterKeyEnv, "")
	t.Setenv(masterKeyEnv+fileSuffix, "")
	folder, empty := t.TempDir(), t.TempDir()
	if _, err := loadOrCreateMaster(folder); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(encryption.NewKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flags     databaseFlags
		key, path string
		has       bool
	}{
		"data folder":         {databaseFlags{dataFlag: dataFlag{folder}}, "", "", true},
		"folder without key":  {databaseFlags{dataFlag: dataFlag{empty}}, "", "", false},
		"other database":      {databaseFlags{dataFlag: dataFlag{folder}, DatabaseURL: "postgres://db"}, "", "", false},
		"environment":         {databaseFlags{DatabaseURL: "postgres://db"}, encryption.NewKey(), "", true},
		"file of environment": {databaseFlags{DatabaseURL: "postgres://db"}, "", file, true},
		"invalid key":         {databaseFlags{DatabaseURL: "postgres://db"}, "short", "", false},
	} {
		t.Setenv(masterKeyEnv, c.key)
		t.Setenv(masterKeyEnv+fileSuffix, c.path)
		if got := c.flags.cipher(); (got != nil) != c.has {
			t.Errorf("%s: has a cipher %t, want %t", name, got != nil, c.has)
		}
	}
}
