package ethereum

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// errMessageSignature is the error for a text that is no signature of a message.
var errMessageSignature = errors.New("must be 0x and 130 hexadecimal digits: r, s and v")

// MessageSigner returns the address whose owner has signed a message with personal_sign (EIP-191).
func MessageSigner(message, signature string) (Address, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(signature, "0x"))
	const length = 65
	if err != nil || len(raw) != length {
		return Address{}, errMessageSignature
	}
	v := raw[length-1]
	if v < 27 { // as some wallets write it
		v += 27
	}
	if v != 27 && v != 28 {
		return Address{}, errMessageSignature
	}
	hash := messageHash(message)
	key, _, err := ecdsa.RecoverCompact(append([]byte{v}, raw[:length-1]...), hash[:])
	if err != nil {
		return Address{}, errMessageSignature
	}
	return AddressOf([33]byte(key.SerializeCompressed()))
}

// SignMessage returns what personal_sign (EIP-191) answers for a message: 0x and the hexadecimal digits of r, s and v.
func SignMessage(key *secp256k1.PrivateKey, message string) string {
	hash := messageHash(message)
	compact := ecdsa.SignCompact(key, hash[:], false)
	return "0x" + hex.EncodeToString(append(compact[1:], compact[0]))
}

func messageHash(message string) Hash {
	return Keccak256([]byte("\x19Ethereum Signed Message:\n"+strconv.Itoa(len(message))), []byte(message))
}
