package account

import "causeway/core/corridor"

// pullRails are the types of account that money can be collected from, and the rail
// that does it. At all others only the owner can send.
var pullRails = map[Type]corridor.Rail{
	USAccount: corridor.ACH, // a debit entry, authorised by the owner
}

// PullRail returns the rail by which money can be collected from the account; false
// when only its owner can send from it.
func (a External) PullRail() (corridor.Rail, bool) {
	rail, ok := pullRails[a.Type]
	return rail, ok && a.Status == Active && !a.Deleted()
}
