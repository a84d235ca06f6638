package account

import "causeway/core/corridor"

// pulls are the types of account that money can be collected from, and the rail
// that does it. At all others only the owner can send.
var pulls = map[Type]corridor.Rail{
	USAccount: corridor.ACH, // a debit entry, authorised by the owner
}

// Pullable tells the rail by which money can be collected from the account; false
// when only its owner can send from it.
func (a External) Pullable() (corridor.Rail, bool) {
	rail, ok := pulls[a.Type]
	return rail, ok && a.Status == Active && !a.Deleted()
}
