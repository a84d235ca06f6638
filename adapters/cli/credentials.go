package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"causeway/app/platforms"
)

// Credentials is the content of credentials.json: what a client needs to call the API.
type Credentials struct {
	PlatformID   string `json:"platformId"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	BaseURL      string `json:"baseUrl"`
}

// CredentialsOf returns the credentials of a new token for the API at a URL.
func CredentialsOf(issued platforms.IssuedToken, baseURL string) Credentials {
	return Credentials{PlatformID: issued.Token.Platform.String(), ClientID: issued.Token.ClientID, ClientSecret: issued.Secret,
		BaseURL: baseURL}
}

// Write writes the credentials as JSON.
func (c Credentials) Write(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(c)
}

// CredentialsPath returns the file with the credentials of a data folder.
func (d DataFlag) CredentialsPath() string { return filepath.Join(d.Data, "credentials.json") }

// Credentials returns those of the data folder, or os.ErrNotExist.
func (d DataFlag) Credentials() (c Credentials, err error) {
	text, err := os.ReadFile(d.CredentialsPath())
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s is not valid JSON (%w); remove it, and causeway dev creates a new platform", d.CredentialsPath(), err)
	}
	return c, nil
}

// SaveCredentials replaces the credentials of the data folder.
func (d DataFlag) SaveCredentials(c Credentials) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return WritePrivateFile(d.CredentialsPath(), append(text, '\n'))
}

// WritePrivateFile replaces a file atomically. Only its owner can read it.
func WritePrivateFile(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}
