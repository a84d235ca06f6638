package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"causeway/adapters/encryption"
	"causeway/ports"
)

const masterKeyEnv = "CAUSEWAY_MASTER_KEY"

// newMaster returns the master keys of a setting: the current one and then older ones. If the
// setting comes from a file, a change of the file takes effect while the process runs.
func newMaster(text string) (*encryption.Master, error) {
	path := os.Getenv(masterKeyEnv + fileSuffix)
	if path != "" {
		if content, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(content)) == strings.TrimSpace(text) {
			return newMasterFromFile(path)
		}
	}
	keys, err := parseMasterKeys(text)
	if err != nil {
		return nil, err
	}
	return encryption.NewMaster(func() ([][]byte, error) { return keys, nil }, systemClock{})
}

func newMasterFromFile(path string) (*encryption.Master, error) {
	return encryption.NewMaster(func() ([][]byte, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return parseMasterKeys(string(text))
	}, systemClock{})
}

func parseMasterKeys(text string) ([][]byte, error) {
	keys, err := encryption.ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", masterKeyEnv, err)
	}
	return keys, nil
}

// masterKeyFlag is the master key of a command other than the server.
type masterKeyFlag struct {
	MasterKey string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" secret:"" help:"Master key of the service. Default: the one in the data folder." placeholder:"KEY"`
}

// sealer returns what encrypts private keys for the service. The key of the data folder is for the
// database of that folder only: keys that are encrypted with another one are of no use to the
// service.
func (m masterKeyFlag) sealer(database databaseFlags) (*encryption.Master, error) {
	if m.MasterKey != "" {
		return newMaster(m.MasterKey)
	}
	if database.DatabaseURL != "" {
		return nil, errors.New("--master-key (CAUSEWAY_MASTER_KEY) is required with a database URL")
	}
	master, err := newMasterFromFile(masterKeyPath(database.Data))
	if err != nil {
		return nil, fmt.Errorf("--data (CAUSEWAY_DATA): %w", err)
	}
	return master, nil
}

func masterKeyPath(dir string) string { return filepath.Join(dir, "master.key") }

// loadOrCreateMaster returns the master key of a data folder, and creates it if missing.
func loadOrCreateMaster(dir string) (*encryption.Master, error) {
	if _, err := os.Stat(masterKeyPath(dir)); errors.Is(err, os.ErrNotExist) {
		if err := writePrivateFile(masterKeyPath(dir), []byte(encryption.NewKey()+"\n")); err != nil {
			return nil, err
		}
	}
	return newMasterFromFile(masterKeyPath(dir))
}

// cipher returns what reads and writes personal data for a command that has no setting for the
// master key: with the key of the environment or, for the database of a data folder, of the folder.
// Without a usable key it fails where the database has data keys, so that nothing is stored in the
// clear that should be encrypted.
func (f databaseFlags) cipher() func(ports.DataKeyStore) ports.Cipher {
	var master ports.Sealer
	var err error
	switch path := os.Getenv(masterKeyEnv + fileSuffix); {
	case os.Getenv(masterKeyEnv) != "":
		master, err = newMaster(os.Getenv(masterKeyEnv))
	case path != "":
		master, err = newMasterFromFile(path)
	case f.DatabaseURL == "":
		master, err = newMasterFromFile(masterKeyPath(f.Data))
	default:
		err = fmt.Errorf("it is missing; set %s", masterKeyEnv)
	}
	if err != nil {
		master = noMaster{fmt.Errorf("the database needs the master key of the service: %w", err)}
	}
	return func(store ports.DataKeyStore) ports.Cipher {
		return encryption.NewDataKeys(store, master, systemClock{})
	}
}

// noMaster is the master key of a command that has none.
type noMaster struct{ err error }

// Seal implements ports.Sealer.
func (m noMaster) Seal(_, _ []byte) ([]byte, error) { return nil, m.err }

// Open implements ports.Sealer.
func (m noMaster) Open(_, _ []byte) ([]byte, error) { return nil, m.err }
