package eth

import (
	"errors"
	"math/big"
)

// wordLength is the size of an argument of a call, and of a value that a call returns.
const wordLength = 32

// TransferTopic is the first topic of the event Transfer(address,address,uint256) of a token.
var TransferTopic = Keccak256([]byte("Transfer(address,address,uint256)"))

var (
	transferSelector  = selector("transfer(address,uint256)")
	balanceOfSelector = selector("balanceOf(address)")
	decimalsSelector  = selector("decimals()")
)

func selector(signature string) []byte {
	hash := Keccak256([]byte(signature))
	return hash[:4]
}

// TransferCall returns the data of a call that transfers an amount of a token.
func TransferCall(to Address, amount *big.Int) []byte {
	return appendWord(appendWord(append([]byte(nil), transferSelector...), to[:]), amount.Bytes())
}

// BalanceOfCall returns the data of a call that asks for the amount of a token at an address.
func BalanceOfCall(owner Address) []byte {
	return appendWord(append([]byte(nil), balanceOfSelector...), owner[:])
}

// DecimalsCall returns the data of a call that asks for the number of decimals of a token.
func DecimalsCall() []byte { return append([]byte(nil), decimalsSelector...) }

func appendWord(b, value []byte) []byte {
	return append(append(b, make([]byte, wordLength-len(value))...), value...)
}

// Uint returns the number that a call returned: one word.
func Uint(data []byte) (*big.Int, error) {
	if len(data) != wordLength {
		return nil, errors.New("the contract did not return a number; it is no token")
	}
	return new(big.Int).SetBytes(data), nil
}

// Transfer is an event of a token.
type Transfer struct {
	From, To Address
	Amount   *big.Int // of 256 bits, in the smallest unit of the token
}

// DecodeTransfer returns the transfer of an event, or false for an event that is none, such as one of a contract with
// another number of topics.
func DecodeTransfer(topics []Hash, data []byte) (t Transfer, ok bool) {
	if len(topics) != 3 || topics[0] != TransferTopic || len(data) != wordLength {
		return t, false
	}
	if t.From, ok = addressOfWord(topics[1]); !ok {
		return t, false
	}
	if t.To, ok = addressOfWord(topics[2]); !ok {
		return t, false
	}
	t.Amount = new(big.Int).SetBytes(data)
	return t, true
}

// addressOfWord returns the address in the last bytes of a word whose other bytes are zero.
func addressOfWord(word Hash) (Address, bool) {
	padding := [HashLength - AddressLength]byte{}
	if [HashLength - AddressLength]byte(word[:len(padding)]) != padding {
		return Address{}, false
	}
	return Address(word[len(padding):]), true
}
