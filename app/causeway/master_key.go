package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"causeway/adapters/cli"
	"causeway/adapters/encryption"
	"causeway/adapters/encryption/vault"
	"causeway/ports"
)

const masterKeyEnv = "CAUSEWAY_MASTER_KEY"

// newMaster returns the master keys of a setting: the current one and then older ones. If the
// setting comes from a file, a change of the file takes effect while the process runs.
func newMaster(text, vaultToken string) (*encryption.Master, error) {
	parser := &masterParser{token: vaultToken}
	path := os.Getenv(masterKeyEnv + fileSuffix)
	if path != "" {
		if content, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(content)) == strings.TrimSpace(text) {
			return parser.file(path)
		}
	}
	sealer, err := parser.parse(text)
	if err != nil {
		return nil, err
	}
	return encryption.NewMaster(func() (ports.Sealer, error) { return sealer, nil }, systemClock{})
}

// masterParser parses the setting of the master key, again and again if it comes from a file.
type masterParser struct {
	token  string // of Vault; empty for that of the environment
	vaults map[string]*vault.Sealer
}

// file returns the master keys in a file.
func (p *masterParser) file(path string) (*encryption.Master, error) {
	return encryption.NewMaster(func() (ports.Sealer, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return p.parse(string(text))
	}, systemClock{})
}

// parse is never called by two goroutines at the same time.
func (p *masterParser) parse(text string) (ports.Sealer, error) {
	sealer, err := encryption.ParseMaster(text, p.inVault)
	if err != nil {
		return nil, fmt.Errorf("%s %w", masterKeyEnv, err)
	}
	return sealer, nil
}

// inVault returns what seals with a key in Vault. A key that was parsed before stays the same, with what it
// knows.
func (p *masterParser) inVault(text string) (sealer ports.Sealer, isKey bool, err error) {
	if !strings.HasPrefix(text, vault.Scheme) {
		return nil, false, nil
	}
	if known := p.vaults[text]; known != nil {
		return known, true, nil
	}
	switch token, err := p.vaultToken(); {
	case err != nil:
		return nil, true, err
	case token == "":
		return nil, true, errors.New("is in Vault; set " + vaultTokenEnv + " or " + vaultTokenEnv + fileSuffix)
	}
	opened, err := vault.New(text, p.vaultToken)
	if err != nil {
		return nil, true, err
	}
	if p.vaults == nil {
		p.vaults = map[string]*vault.Sealer{}
	}
	p.vaults[text] = opened
	return opened, true, nil
}

// vaultToken returns the token of Vault: that of its file as it is now, because it may be renewed.
func (p *masterParser) vaultToken() (string, error) {
	if path := os.Getenv(vaultTokenEnv + fileSuffix); path != "" {
		text, err := os.ReadFile(path)
		return strings.TrimSpace(string(text)), err
	}
	return cmp.Or(p.token, os.Getenv(vaultTokenEnv)), nil
}

const vaultTokenEnv = "CAUSEWAY_VAULT_TOKEN"

// newSealer returns what encrypts private keys for the service. The key of the data folder is for the
// database of that folder only: keys that are encrypted with another one are of no use to the
// service.
func newSealer(m cli.MasterKeyFlag, database cli.DatabaseFlags) (*encryption.Master, error) {
	if m.MasterKey != "" {
		return newMaster(m.MasterKey, m.VaultToken)
	}
	if database.DatabaseURL != "" {
		return nil, errors.New("--master-key (CAUSEWAY_MASTER_KEY) is required with a database URL")
	}
	master, err := new(masterParser).file(masterKeyPath(database.Data))
	if err != nil {
		return nil, fmt.Errorf("--data (CAUSEWAY_DATA): %w", err)
	}
	return master, nil
}

func masterKeyPath(dir string) string { return filepath.Join(dir, "master.key") }

// loadOrCreateMaster returns the master key of a data folder, and creates it if missing.
func loadOrCreateMaster(dir string) (*encryption.Master, error) {
	if _, err := os.Stat(masterKeyPath(dir)); errors.Is(err, os.ErrNotExist) {
		if err := cli.WritePrivateFile(masterKeyPath(dir), []byte(encryption.NewKey()+"\n")); err != nil {
			return nil, err
		}
	}
	return new(masterParser).file(masterKeyPath(dir))
}

// cipherOf returns what reads and writes personal data for a command that has no setting for the
// master key: with the key of the environment or, for the database of a data folder, of the folder.
// Without a usable key it fails where the database has data keys, so that nothing is stored in the
// clear that should be encrypted.
func cipherOf(f cli.DatabaseFlags) func(ports.DataKeyStore) ports.Cipher {
	var master ports.Sealer
	var err error
	parser := new(masterParser)
	switch path := os.Getenv(masterKeyEnv + fileSuffix); {
	case os.Getenv(masterKeyEnv) != "":
		master, err = newMaster(os.Getenv(masterKeyEnv), "")
	case path != "":
		master, err = parser.file(path)
	case f.DatabaseURL == "":
		master, err = parser.file(masterKeyPath(f.Data))
	default:
		err = fmt.Errorf("%w; set %s", ports.ErrNoMasterKey, masterKeyEnv)
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
