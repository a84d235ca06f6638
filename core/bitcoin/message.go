package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// MessageScheme is how a signature of a message says which address it is for.
type MessageScheme string

// The schemes: BIP 137 names the kind of address in the signature. Electrum writes that of the oldest kind for every address.
const (
	BIP137   MessageScheme = "bip137"
	Electrum MessageScheme = "electrum"
)

// What is wrong with a signature of a message.
var (
	ErrMessageForm   = errors.New("must be the base64 text of 65 bytes")
	ErrMessageKind   = errors.New("is for another kind of address; sign with the address itself, or name the signatureScheme of the wallet")
	ErrMessageSigner = errors.New("is not by the owner of the address, or of another message")
)

// SignsMessages reports whether owners of addresses of this kind can sign messages with their one key: not those of Taproot and of
// SegWit scripts.
func (a Address) SignsMessages() bool {
	return a.Prefix == "" || a.Version == 0 && len(a.Program) == hashLength
}

// The first bytes of signatures in BIP 137, of which each kind of address has four.
const (
	headerP2PKHUncompressed = 27
	headerP2SHWitness       = 35
	headerWitness           = 39
	headerEnd               = 43
)

// CheckMessage returns an error unless the owner of an address has signed a message.
func (a Address) CheckMessage(message, signature string, scheme MessageScheme) error {
	raw, err := base64.StdEncoding.DecodeString(signature)
	const length = 65
	if err != nil || len(raw) != length || raw[0] < headerP2PKHUncompressed || raw[0] >= headerEnd {
		return ErrMessageForm
	}
	header := raw[0]
	if scheme == Electrum && header >= headerP2SHWitness || scheme != Electrum && !a.hasHeader(header) {
		return ErrMessageKind
	}
	for raw[0] >= headerP2SHWitness {
		raw[0] -= 4 // the library knows those of keys alone
	}
	key, compressed, err := ecdsa.RecoverCompact(raw, messageHash(message))
	if err != nil {
		return ErrMessageSigner
	}
	encoded := key.SerializeCompressed()
	if !compressed {
		encoded = key.SerializeUncompressed()
	}
	hash := Hash160(encoded)
	switch {
	case a.Prefix == "" && a.isScript(): // of a witness, with the script that nests it
		hash = Hash160(append([]byte{0, byte(len(hash))}, hash...))
	case a.Prefix != "" && !a.SignsMessages():
		return ErrMessageKind
	}
	if !compressed && (a.Prefix != "" || a.isScript()) || !bytes.Equal(hash, a.Program) {
		return ErrMessageSigner
	}
	return nil
}

// isScript reports whether an older address is that of a script.
func (a Address) isScript() bool {
	return a.Version == base58Versions[1] || a.Version == base58Versions[3]
}

// hasHeader reports whether the signatures of BIP 137 for addresses of this kind begin with a byte.
func (a Address) hasHeader(header byte) bool {
	switch {
	case a.Prefix != "":
		return header >= headerWitness
	case a.isScript():
		return header >= headerP2SHWitness && header < headerWitness
	default:
		return header < headerP2SHWitness
	}
}

// messageHash returns what is signed of a message of up to 65,535 bytes.
func messageHash(message string) []byte {
	data := []byte("\x18Bitcoin Signed Message:\n")
	if len(message) < 0xfd {
		data = append(data, byte(len(message)))
	} else {
		data = binary.LittleEndian.AppendUint16(append(data, 0xfd), uint16(len(message)))
	}
	first := sha256.Sum256(append(data, message...))
	second := sha256.Sum256(first[:])
	return second[:]
}
