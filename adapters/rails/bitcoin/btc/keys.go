package btc

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
)

// ExtendedKey is a public or private key of BIP 32 from which children are derived.
type ExtendedKey struct {
	network Network
	key     *hdkeychain.ExtendedKey
	public  []byte // compressed
}

var errExtendedKey = errors.New("is not an extended key")

// maxKeyLength is more than an extended key has, in characters.
const maxKeyLength = 120

// ParseExtendedKey reads a key such as xpub… or xprv… of the network. Errors never have the key.
func (n Network) ParseExtendedKey(text string) (ExtendedKey, error) {
	if len(text) > maxKeyLength {
		return ExtendedKey{}, errExtendedKey
	}
	key, err := hdkeychain.NewKeyFromString(text)
	if err != nil {
		return ExtendedKey{}, errExtendedKey
	}
	version := [4]byte(key.Version())
	switch {
	case version != n.extendedPublic && version != n.extendedPrivate:
		return ExtendedKey{}, fmt.Errorf("is an extended key of another network than %s", n.Name)
	case key.IsPrivate() != (version == n.extendedPrivate):
		return ExtendedKey{}, errExtendedKey
	}
	return n.extendedKey(key)
}

func (n Network) extendedKey(key *hdkeychain.ExtendedKey) (ExtendedKey, error) {
	public, err := key.ECPubKey()
	if err != nil {
		return ExtendedKey{}, errExtendedKey
	}
	return ExtendedKey{n, key, public.SerializeCompressed()}, nil
}

// IsPrivate reports whether the key is private. The zero key is not.
func (k ExtendedKey) IsPrivate() bool { return k.key != nil && k.key.IsPrivate() }

// SamePublic reports whether both keys have the same public key and chain code, and so the same children.
func (k ExtendedKey) SamePublic(other ExtendedKey) bool {
	return string(k.public) == string(other.public) && string(k.key.ChainCode()) == string(other.key.ChainCode())
}

// Child returns a child that is not hardened.
func (k ExtendedKey) Child(index uint32) (ExtendedKey, error) {
	if index >= hdkeychain.HardenedKeyStart {
		return ExtendedKey{}, errors.New("the key has no such child")
	}
	child, err := k.key.Derive(index)
	if err != nil {
		return ExtendedKey{}, fmt.Errorf("the key has no such child: %w", err)
	}
	return k.network.extendedKey(child)
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
func (k ExtendedKey) PrivateDescriptor() (string, error) {
	private, err := k.key.ECPrivKey()
	if err != nil {
		return "", err
	}
	return WithChecksum("wpkh(" + base58.CheckEncode(append(private.Serialize(), 1), k.network.privateKey) + ")"), nil
}

// PublicKey returns the compressed public key.
func (k ExtendedKey) PublicKey() []byte { return k.public }
