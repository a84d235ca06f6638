package wallet

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Ceremony is what a passkey is used for, as WebAuthn names it.
type Ceremony string

// The ceremonies.
const (
	CreatePasskey Ceremony = "webauthn.create"
	GetPasskey    Ceremony = "webauthn.get"
)

// maxClientData is the longest base64url text of client data that is parsed. Those of browsers have some 250
// characters.
const maxClientData = 4096

// ClientData is what a browser adds to a ceremony (WebAuthn level 3, section 5.8.1).
type ClientData struct {
	Type      Ceremony
	Challenge []byte
	// Origin is the page, such as "https://app.example.com", or the app, such as
	// "android:apk-key-hash:…".
	Origin string
	// CrossOrigin is set for a page in the frame of another origin.
	CrossOrigin bool
}

// ParseClientData parses client data: JSON in base64url without padding.
func ParseClientData(encoded string) (ClientData, error) {
	if len(encoded) > maxClientData {
		return ClientData{}, fmt.Errorf("must have at most %d characters", maxClientData)
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	// Client data may have further members. A map matches their names exactly; a struct would not.
	var members map[string]any
	if err != nil || json.Unmarshal(text, &members) != nil {
		return ClientData{}, errors.New("must be the JSON object that the browser returned, in base64url without padding")
	}
	ceremony, _ := members["type"].(string)
	origin, _ := members["origin"].(string)
	crossOrigin, _ := members["crossOrigin"].(bool)
	_, topOrigin := members["topOrigin"]
	challengeText, _ := members["challenge"].(string)
	challenge, err := base64.RawURLEncoding.DecodeString(challengeText)
	if err != nil || len(challenge) == 0 {
		return ClientData{}, errors.New("must have a challenge in base64url")
	}
	return ClientData{Type: Ceremony(ceremony), Challenge: challenge, Origin: origin, CrossOrigin: crossOrigin || topOrigin}, nil
}

// Check returns why client data are not those of a ceremony for a challenge.
func (d ClientData) Check(ceremony Ceremony, challenge []byte) error {
	switch {
	case d.Type != ceremony:
		return fmt.Errorf("must have the type %s", ceremony)
	case len(challenge) == 0 || subtle.ConstantTimeCompare(d.Challenge, challenge) != 1:
		return errors.New("must have the challenge of this request")
	}
	return nil
}

// CheckOrigin returns why client data are not from one of the origins, themselves and in no frame of others.
func (d ClientData) CheckOrigin(origins []string) error {
	switch {
	case !slices.Contains(origins, d.Origin):
		return fmt.Errorf("must have an origin of embeddedWalletConfig.passkeyOrigins, and has %.200q", d.Origin)
	case d.CrossOrigin:
		return errors.New("must not be from a page in the frame of another origin")
	}
	return nil
}
