package uma

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// SignedText returns the text that is signed for a message about addresses: the messages sign no amounts, which TLS protects.
func SignedText(stamp Stamp, addresses ...string) string {
	return strings.Join(append(addresses, stamp.Nonce, strconv.FormatInt(stamp.Seconds, 10)), "|")
}

// Sign returns the signature of a text by a private scalar, in hexadecimal DER.
func Sign(key []byte, text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(ecdsa.Sign(secp256k1.PrivKeyFromBytes(key), hash[:]).Serialize())
}

// Verify returns an error unless the signature of a text is that of a public key.
func Verify(publicKey []byte, text, signature string) error {
	key, err := secp256k1.ParsePubKey(publicKey)
	if err != nil {
		return refuse(InvalidPubkey, "the signing key is not a key of secp256k1")
	}
	der, err := hex.DecodeString(signature)
	if err != nil {
		return refuse(InvalidSignature, "the signature is not hexadecimal")
	}
	parsed, err := ecdsa.ParseDERSignature(der)
	if err != nil {
		return refuse(InvalidSignature, "the signature is not DER")
	}
	if hash := sha256.Sum256([]byte(text)); !parsed.Verify(hash[:], key) {
		return refuse(InvalidSignature, "the signature is not that of the provider's key")
	}
	return nil
}

// PublicKey returns the uncompressed public key of a private scalar.
func PublicKey(key []byte) []byte {
	return secp256k1.PrivKeyFromBytes(key).PubKey().SerializeUncompressed()
}

// IsPublicKey reports whether bytes are a public key of secp256k1.
func IsPublicKey(key []byte) bool {
	_, err := secp256k1.ParsePubKey(key)
	return err == nil
}
