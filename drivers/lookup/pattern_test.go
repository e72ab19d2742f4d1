//go:build unix

package lookup_test

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// A User is in the shard of its team.
type User struct {
	ID    snow.ID `gorm:"primaryKey;not null" snow:"shard=Team"`
	Team  string  `gorm:"size:64;not null"`
	Email string  `gorm:"size:191;not null"`
}

// A UserEmail says whose an address is. It is in the shard of the address, where it is unique.
type UserEmail struct {
	ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=Email"`
	Email     string  `gorm:"size:191;not null;uniqueIndex"`
	UserID    snow.ID `gorm:"not null"`
	Confirmed bool    `gorm:"not null"`
}

var errTaken = errors.New("the address is taken")

type users struct {
	db     *gorm.DB // from route.New
	layout snow.Layout
	keys   snow.Source
	grace  time.Duration // longer than any registration takes, for example an hour
}

// register stores a user. Its address must be in one spelling, such as lower case. After an error other than errTaken
// it may be repeated, with the same user.
func (s *users) register(ctx context.Context, u *User) error {
	if u.ID == 0 { // the claim names the user, so the key comes first
		ids := make([]snow.ID, 1)
		err := s.keys.Fill(ctx, ids)
		if err == nil {
			u.ID, err = s.layout.WithShard(ids[0], snow.HashShard(u.Team))
		}
		if err != nil {
			return err
		}
	}
	if err := s.claim(ctx, u); err != nil {
		return err
	}
	if _, err := gormsnow.CreateOnce(s.db.WithContext(ctx), u); err != nil {
		return err // the claim stays for a repetition, or for sweep
	}
	return s.confirm(ctx, u)
}

// claim takes the address. A claim of another user stands in the way unless it is void.
func (s *users) claim(ctx context.Context, u *User) error {
	for {
		c := UserEmail{Email: u.Email, UserID: u.ID}
		if _, err := gormsnow.CreateOnce(s.db.WithContext(ctx), &c, "Email"); err != nil || c.UserID == u.ID {
			return err
		}
		if dropped, err := s.sweep(ctx, c); err != nil || !dropped {
			return errors.Join(err, errTaken)
		}
	}
}

// confirm makes the claim last as long as the user does. Whoever was too slow has lost the address, and the user goes.
func (s *users) confirm(ctx context.Context, u *User) error {
	db := s.db.WithContext(ctx)
	err := db.Model(&UserEmail{}).Where("email = ? AND user_id = ?", u.Email, u.ID).Update("confirmed", true).Error
	if err != nil {
		return err
	}
	var c UserEmail
	err = db.First(&c, "email = ?", u.Email).Error
	if err == nil && c.UserID == u.ID {
		return nil
	}
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return err
	}
	return errors.Join(db.Delete(u).Error, errTaken)
}

// find returns the user of an address.
func (s *users) find(ctx context.Context, email string) (u User, err error) {
	var c UserEmail
	if err = s.db.WithContext(ctx).First(&c, "email = ?", email).Error; err == nil {
		err = s.db.WithContext(ctx).First(&u, "id = ? AND email = ?", c.UserID, email).Error
	}
	return u, err
}

// remove deletes a user, and then the claim.
func (s *users) remove(ctx context.Context, u *User) error {
	if err := s.db.WithContext(ctx).Delete(u).Error; err != nil {
		return err
	}
	return s.db.WithContext(ctx).Where("email = ? AND user_id = ?", u.Email, u.ID).Delete(&UserEmail{}).Error
}

// sweep drops a claim without a user, if it is older than the grace.
func (s *users) sweep(ctx context.Context, c UserEmail) (dropped bool, err error) {
	if time.Since(s.layout.Time(c.ID)) < s.grace {
		return false, nil
	}
	var u User
	err = s.db.WithContext(ctx).First(&u, "id = ? AND email = ?", c.UserID, c.Email).Error
	if !errors.Is(err, gorm.ErrRecordNotFound) {
		return false, err
	}
	// Not if it was confirmed meanwhile.
	tx := s.db.WithContext(ctx).Where("id = ? AND confirmed = ?", c.ID, c.Confirmed).Delete(&UserEmail{})
	return tx.Error == nil, tx.Error
}

// sweepAll looks at the claims that nobody has confirmed. Run it once a day.
func (s *users) sweepAll(ctx context.Context) error {
	var claims []UserEmail
	all := route.Scatter(s.db.WithContext(ctx)).Where("confirmed = ?", false)
	return all.FindInBatches(&claims, 1000, func(*gorm.DB, int) error {
		for _, c := range claims {
			if _, err := s.sweep(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}).Error
}
