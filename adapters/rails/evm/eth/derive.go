package eth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"causeway/ports"
)

// errNoKey is the error for an index at which BIP-32 derives no key: one of 2^127.
var errNoKey = errors.New("no key can be derived at this path")

// Derive returns the public key at a path below a public key (BIP-32). No index may be hardened.
func Derive(key ports.ChainAccountKey, path ...uint32) (ports.ChainAccountKey, error) {
	for _, index := range path {
		if index&ports.ChainHardened != 0 {
			return key, errors.New("a hardened key cannot be derived from a public key")
		}
		parent, err := secp256k1.ParsePubKey(key.PublicKey[:])
		if err != nil {
			return key, err
		}
		mac := hmac.New(sha512.New, key.ChainCode[:])
		mac.Write(key.PublicKey[:])
		mac.Write(binary.BigEndian.AppendUint32(nil, index))
		sum := mac.Sum(nil)
		var scalar secp256k1.ModNScalar
		if overflow := scalar.SetByteSlice(sum[:32]); overflow {
			return key, errNoKey
		}
		var step, parentPoint, child secp256k1.JacobianPoint
		secp256k1.ScalarBaseMultNonConst(&scalar, &step)
		parent.AsJacobian(&parentPoint)
		secp256k1.AddNonConst(&step, &parentPoint, &child)
		if child.Z.IsZero() {
			return key, errNoKey
		}
		child.ToAffine()
		copy(key.PublicKey[:], secp256k1.NewPublicKey(&child.X, &child.Y).SerializeCompressed())
		copy(key.ChainCode[:], sum[32:])
	}
	return key, nil
}

// depositBranch is the branch of deposit addresses below an account; hotBranch that of the wallet that pays.
const (
	hotBranch     = 0
	depositBranch = 1
)

// HotPath returns the path of the wallet that pays, below an account.
func HotPath() []uint32 { return []uint32{hotBranch, 0} }

// DepositPath returns the path of the deposit address of a platform's reference, below an account. Four indexes of 31
// bits of a hash stand for it, so that addresses need no numbering: two references with one address are as likely as a
// collision of 124 bits.
func DepositPath(platform [16]byte, reference string) []uint32 {
	h := sha256.New()
	h.Write([]byte("causeway deposit address\x00"))
	h.Write(platform[:])
	h.Write([]byte(reference))
	sum := h.Sum(nil)
	path := []uint32{depositBranch}
	for i := range 4 {
		path = append(path, binary.BigEndian.Uint32(sum[4*i:])&^ports.ChainHardened)
	}
	return path
}
