package ethereum

import (
	"encoding/binary"
	"math/big"
)

// Domain identifies the contract of a token in what is signed for it (EIP-712).
type Domain struct {
	Name, Version string
	ChainID       uint64
	Contract      Address
}

// Authorization is one of EIP-3009: of the transfer of an amount of a token from an address, which only the recipient can send to the
// contract, once, and before a time.
type Authorization struct {
	From, To Address
	Value    *big.Int
	// ValidBefore is in seconds since 1970.
	ValidBefore uint64
	// Nonce identifies the authorisation: the contract takes each nonce of an address once.
	Nonce Hash
}

var (
	domainType = Keccak256([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"))
	// ReceiveType is the hash of the type of an Authorization.
	ReceiveType = Keccak256([]byte("ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore," +
		"bytes32 nonce)"))
)

// Separator returns the hash of the domain, as contracts return it from DOMAIN_SEPARATOR().
func (d Domain) Separator() Hash {
	name, version := Keccak256([]byte(d.Name)), Keccak256([]byte(d.Version))
	return Keccak256(domainType[:], name[:], version[:], word64(d.ChainID), addressWord(d.Contract))
}

// Digest returns what the owner of From signs. It is valid from the beginning.
func (a Authorization) Digest(d Domain) Hash {
	return d.digest(ReceiveType[:], addressWord(a.From), addressWord(a.To), a.Value.FillBytes(make([]byte, HashLength)),
		make([]byte, HashLength), word64(a.ValidBefore), a.Nonce[:])
}

// Permit is one of EIP-2612: it sets the allowance of a spender for an amount of a token, once, and before a time. Anybody can send it
// to the contract.
type Permit struct {
	Owner, Spender Address
	Value          *big.Int
	// Nonce is the number of permits that the contract has taken from the owner before.
	Nonce uint64
	// Deadline is in seconds since 1970.
	Deadline uint64
}

var permitType = Keccak256([]byte("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"))

// Digest returns what the owner signs.
func (p Permit) Digest(d Domain) Hash {
	return d.digest(permitType[:], addressWord(p.Owner), addressWord(p.Spender), p.Value.FillBytes(make([]byte, HashLength)),
		word64(p.Nonce), word64(p.Deadline))
}

// digest returns what is signed of a message for a contract: the hash of its type, and its fields.
func (d Domain) digest(message ...[]byte) Hash {
	separator, hash := d.Separator(), Keccak256(message...)
	return Keccak256([]byte{0x19, 0x01}, separator[:], hash[:])
}

var transferSelector = Keccak256([]byte("transfer(address,uint256)"))

// TransferCall returns the data of a call that transfers an amount of a token.
func TransferCall(to Address, amount *big.Int) []byte {
	return append(append(transferSelector[:4:4], addressWord(to)...), amount.FillBytes(make([]byte, HashLength))...)
}

func word64(n uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, HashLength-8, HashLength), n)
}

func addressWord(a Address) []byte {
	return append(make([]byte, HashLength-AddressLength, HashLength), a[:]...)
}
