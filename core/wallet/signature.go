package wallet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
)

// StampScheme is the only scheme of a stamp: ECDSA on P-256 with SHA-256.
const StampScheme = "SIGNATURE_SCHEME_TK_API_P256"

// The longest values that are decoded. A signature on P-256 has at most 72 bytes in DER.
const (
	maxSignatureDER  = 72
	maxSignatureText = 1024
)

// Signature is a signature of a client, as the header Service-Wallet-Signature carries it.
type Signature struct {
	// DER is the signature: ECDSA with SHA-256, an ASN.1 sequence of r and s (RFC 3279). s may be in either
	// half: many clients cannot choose.
	DER []byte
	// Key is the key that the client says it signed with; zero if it names none.
	Key SessionKey
}

// ParseSignature parses both forms of a signature, or returns UNAUTHORIZED:
//
//   - base64 with padding of the signature in DER;
//   - a stamp: base64url without padding of a JSON object with publicKey (compressed, in hexadecimal digits),
//     scheme (StampScheme) and signature (DER in hexadecimal digits).
func ParseSignature(text string) (Signature, error) {
	if len(text) > maxSignatureText {
		return Signature{}, notASignature("Service-Wallet-Signature has %d characters; a signature has at most %d.",
			len(text), maxSignatureText)
	}
	// The first byte of a sequence in DER is 30, which base64 begins with M.
	if strings.HasPrefix(text, "M") {
		der, err := decodeBase64(base64.StdEncoding, text)
		if err != nil || len(der) > maxSignatureDER {
			return Signature{}, malformedSignature()
		}
		return Signature{DER: der}, nil
	}
	return parseStamp(text)
}

func parseStamp(text string) (Signature, error) {
	object, err := decodeBase64(base64.RawURLEncoding, text)
	if err != nil {
		return Signature{}, malformedSignature()
	}
	var stamp map[string]string
	if err := json.Unmarshal(object, &stamp); err != nil || len(stamp) != 3 {
		return Signature{}, malformedSignature()
	}
	key, keyErr := hex.DecodeString(stamp["publicKey"])
	der, derErr := hex.DecodeString(stamp["signature"])
	switch {
	case keyErr != nil || derErr != nil || len(key) != len(SessionKey{}) || len(der) == 0 || len(der) > maxSignatureDER:
		return Signature{}, malformedSignature()
	case stamp["scheme"] != StampScheme:
		return Signature{}, notASignature("The scheme of a stamp in Service-Wallet-Signature must be %s.", StampScheme)
	}
	return Signature{DER: der, Key: SessionKey(key)}, nil
}

// decodeBase64 accepts one text for each value: no line breaks, and no bits after the last byte.
func decodeBase64(encoding *base64.Encoding, text string) ([]byte, error) {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		return nil, base64.CorruptInputError(i)
	}
	return encoding.Strict().DecodeString(text)
}

func malformedSignature() error {
	return notASignature("Service-Wallet-Signature must be the base64 text of an ECDSA signature in DER, or a stamp with publicKey, " +
		"scheme and signature.")
}

// VerifiedBy reports whether a key made the signature over a payload. A signature that is not in strict DER
// was made by none.
func (s Signature) VerifiedBy(key SessionKey, payload string) bool {
	if s.Key != (SessionKey{}) && s.Key != key {
		return false
	}
	public, err := key.publicKey()
	if err != nil {
		return false
	}
	digest := sha256.Sum256([]byte(payload))
	return ecdsa.VerifyASN1(public, digest[:], s.DER)
}

func (k SessionKey) publicKey() (*ecdsa.PublicKey, error) {
	point := k.uncompressed()
	if point == nil {
		return nil, errors.New("the key of the session is not a point on P-256")
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
}

// Signer returns the session whose key signed the payload, or UNAUTHORIZED.
func Signer(payload, signature string, sessions []Session) (Session, error) {
	parsed, err := ParseSignature(signature)
	if err != nil {
		return Session{}, err
	}
	for _, session := range sessions {
		if parsed.VerifiedBy(session.PublicKey, payload) {
			return session, nil
		}
	}
	return Session{}, InvalidSignature("No active session of the wallet made the signature in Service-Wallet-Signature. Sign payloadToSign " +
		"byte for byte as it was received, with the key of an active session.")
}
