package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/cli"
	"causeway/adapters/encryption"
	"causeway/adapters/encryption/vault/vaulttest"
	"causeway/ports"
)

// memoryKeys is a ports.DataKeyStore that does not replace keys.
type memoryKeys struct {
	ports.DataKeyStore
	stored []ports.SealedDataKey
}

func (m *memoryKeys) DataKeys(context.Context) ([]ports.SealedDataKey, error) { return m.stored, nil }

func (m *memoryKeys) AddDataKey(_ context.Context, key ports.SealedDataKey) error {
	m.stored = append(m.stored, key)
	return nil
}

func TestCipher_UsesKeyOfEnvironmentOrDataFolder(t *testing.T) {
	// A command without a setting for the master key reads personal data with the key of the
	// environment, of the file that it names or, without a database URL, of the data folder. Without
	// one it stores none that should be encrypted.
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
		flags     cli.DatabaseFlags
		key, path string
		has       bool
	}{
		"data folder":         {cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: folder}}, "", "", true},
		"folder without key":  {cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: empty}}, "", "", false},
		"other database":      {cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: folder}, DatabaseURL: "postgres://db"}, "", "", false},
		"environment":         {cli.DatabaseFlags{DatabaseURL: "postgres://db"}, encryption.NewKey(), "", true},
		"file of environment": {cli.DatabaseFlags{DatabaseURL: "postgres://db"}, "", file, true},
		"invalid key":         {cli.DatabaseFlags{DatabaseURL: "postgres://db"}, "short", "", false},
	} {
		t.Setenv(masterKeyEnv, c.key)
		t.Setenv(masterKeyEnv+fileSuffix, c.path)
		// Without data keys nothing is encrypted.
		if sealed, err := cipherOf(c.flags)(&memoryKeys{}).Seal(t.Context(), []byte("ana"), nil); sealed != nil || err != nil {
			t.Errorf("%s: sealed %x without a data key, %v", name, sealed, err)
		}
		keys := &memoryKeys{}
		if c.has {
			if err := cipherOf(c.flags)(keys).Create(t.Context(), uuid.New()); err != nil {
				t.Fatal(name, err)
			}
		} else {
			keys.stored = []ports.SealedDataKey{{Purpose: ports.DataKey, Sealed: []byte("of another process")}}
		}
		if sealed, err := cipherOf(c.flags)(keys).Seal(t.Context(), []byte("ana"), nil); (sealed != nil) != c.has || (err == nil) != c.has {
			t.Errorf("%s: sealed %x, %v", name, sealed, err)
		}
	}
}

func TestMaster_ReadsTheVaultTokenAgain(t *testing.T) {
	// A token that comes from a file is that of the file at each request, for the server and for commands
	// that take their settings from the environment alone.
	vault := httptest.NewServer(vaulttest.New(t))
	defer vault.Close()
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	key := "vault:" + vault.URL + "/transit/causeway"
	t.Setenv(masterKeyEnv, key)
	t.Setenv(masterKeyEnv+fileSuffix, "")
	t.Setenv(vaultTokenEnv, "")
	t.Setenv(vaultTokenEnv+fileSuffix, file)
	master, err := newMaster(key, "first")
	if err != nil {
		t.Fatal(err)
	}
	command := cipherOf(cli.DatabaseFlags{DatabaseURL: "postgres://db"})
	seal := func() error {
		_, err := master.Seal([]byte("private"), nil)
		return errors.Join(err, command(&memoryKeys{}).Create(t.Context(), uuid.New()))
	}
	if err := seal(); err == nil {
		t.Error("a token that Vault does not know is accepted")
	}

	write(vaulttest.Token)

	if err := seal(); err != nil {
		t.Error(err)
	}
}
