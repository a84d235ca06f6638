package pages

import (
	"sync"

	"causeway/core/customer"
	"causeway/core/ident"
)

const (
	// maxUploads limits the memory for files; those that are received are not stored on disk.
	maxUploads = 8
	// maxUploadsOfPlatform is how many of them are of the customers of one platform, as in the API, and maxUploadsOfCustomer of one customer:
	// they could otherwise keep all others from uploading. The latter leaves room for uploads whose connection broke.
	maxUploadsOfPlatform = maxUploads * 3 / 4
	maxUploadsOfCustomer = 3
)

// uploadSlots limits the files that are received at once. It is safe for concurrent use.
type uploadSlots struct {
	mu         sync.Mutex
	total      int
	ofPlatform map[ident.Platform]int
	ofCustomer map[ident.Customer]int
}

func newUploadSlots() *uploadSlots {
	return &uploadSlots{ofPlatform: map[ident.Platform]int{}, ofCustomer: map[ident.Customer]int{}}
}

// take takes a slot for a customer, and returns false if there is none. The caller releases it.
func (s *uploadSlots) take(c customer.Customer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= maxUploads || s.ofPlatform[c.Platform] >= maxUploadsOfPlatform || s.ofCustomer[c.ID] >= maxUploadsOfCustomer {
		return false
	}
	s.total++
	s.ofPlatform[c.Platform]++
	s.ofCustomer[c.ID]++
	return true
}

func (s *uploadSlots) release(c customer.Customer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.ofPlatform[c.Platform]--; s.ofPlatform[c.Platform] == 0 {
		delete(s.ofPlatform, c.Platform)
	}
	if s.ofCustomer[c.ID]--; s.ofCustomer[c.ID] == 0 {
		delete(s.ofCustomer, c.ID)
	}
}
