package btc

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// ExtendedKey is a public or private key of BIP 32 from which children are derived.
type ExtendedKey struct {
	network   Network
	chainCode []byte
	public    []byte // compressed
	private   []byte // nil for a public key
}

var errExtendedKey = errors.New("is not an extended key")

// ParseExtendedKey reads a key such as xpub… or xprv… of the network. Errors never have the key.
func (n Network) ParseExtendedKey(text string) (ExtendedKey, error) {
	data, err := decodeChecked(text)
	if err != nil || len(data) != 78 {
		return ExtendedKey{}, errExtendedKey
	}
	k := ExtendedKey{network: n, chainCode: data[13:45]}
	switch [4]byte(data[:4]) {
	case n.extendedPublic:
		if _, err := secp256k1.ParsePubKey(data[45:]); err != nil {
			return k, errExtendedKey
		}
		k.public = data[45:]
	case n.extendedPrivate:
		var scalar secp256k1.ModNScalar
		if data[45] != 0 || scalar.SetByteSlice(data[46:]) || scalar.IsZero() {
			return k, errExtendedKey
		}
		k.private, k.public = data[46:], secp256k1.NewPrivateKey(&scalar).PubKey().SerializeCompressed()
	default:
		return k, fmt.Errorf("is an extended key of another network than %s", n.Name)
	}
	return k, nil
}

// IsPrivate reports whether the key is private.
func (k ExtendedKey) IsPrivate() bool { return k.private != nil }

// SamePublic reports whether both keys have the same public key and chain code, and so the same children.
func (k ExtendedKey) SamePublic(other ExtendedKey) bool {
	return string(k.public) == string(other.public) && string(k.chainCode) == string(other.chainCode)
}

// Child returns a child that is not hardened.
func (k ExtendedKey) Child(index uint32) (ExtendedKey, error) {
	mac := hmac.New(sha512.New, k.chainCode)
	mac.Write(k.public)
	_ = binary.Write(mac, binary.BigEndian, index)
	sum := mac.Sum(nil)
	child := ExtendedKey{network: k.network, chainCode: sum[32:]}
	var tweak secp256k1.ModNScalar
	if index >= 1<<31 || tweak.SetByteSlice(sum[:32]) {
		return child, errors.New("the key has no such child")
	}
	if k.private != nil {
		var scalar secp256k1.ModNScalar
		scalar.SetByteSlice(k.private)
		scalar.Add(&tweak)
		bytes := scalar.Bytes()
		child.private, child.public = bytes[:], secp256k1.NewPrivateKey(&scalar).PubKey().SerializeCompressed()
		return child, nil
	}
	parent, err := secp256k1.ParsePubKey(k.public)
	if err != nil {
		return child, errExtendedKey
	}
	var point, shift, sumPoint secp256k1.JacobianPoint
	parent.AsJacobian(&point)
	secp256k1.ScalarBaseMultNonConst(&tweak, &shift)
	secp256k1.AddNonConst(&point, &shift, &sumPoint)
	sumPoint.ToAffine()
	child.public = secp256k1.NewPublicKey(&sumPoint.X, &sumPoint.Y).SerializeCompressed()
	return child, nil
}

// Path returns the descendant at the end of a path of children that are not hardened.
func (k ExtendedKey) Path(indexes []uint32) (ExtendedKey, error) {
	for _, index := range indexes {
		child, err := k.Child(index)
		if err != nil {
			return child, err
		}
		k = child
	}
	return k, nil
}

// Address returns the P2WPKH address of the key.
func (k ExtendedKey) Address() string { return k.network.WitnessAddress(k.public) }

// PrivateDescriptor returns the descriptor of the key's P2WPKH address with its private key, as a wallet imports it.
func (k ExtendedKey) PrivateDescriptor() string {
	payload := append([]byte{k.network.privateKey}, k.private...)
	return WithChecksum("wpkh(" + encodeChecked(append(payload, 1)) + ")")
}

// PublicKey returns the compressed public key.
func (k ExtendedKey) PublicKey() []byte { return k.public }
