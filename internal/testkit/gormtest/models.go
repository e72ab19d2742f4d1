package gormtest

import (
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// Models of the shapes.
type (
	// A Customer has baskets, and topics through a join table.
	Customer struct {
		gormsnow.Model
		Name     string `gorm:"size:40"`
		Carts    []Basket
		Interest []Topic `gorm:"many2many:customer_topics"`
	}
	// A Basket may have a customer.
	Basket struct {
		gormsnow.Model
		CustomerID *snow.ID
		Customer   *Customer
		Note       string `gorm:"size:40"`
	}
	// A Topic has a key and a name.
	Topic struct {
		ID   snow.ID
		Name string `gorm:"size:40"`
	}
	// A Voucher has keys of four types.
	Voucher struct {
		ID     int64    `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Code   string   `gorm:"snowflake;size:20"`
		Serial *uint64  `gorm:"snowflake"`
		Public *snow.ID `gorm:"snowflake"`
	}
	// A Base is embedded.
	Base struct {
		ID snow.ID `gorm:"primaryKey;snowflake"`
	}
	// A Ref is embedded with a prefix.
	Ref struct {
		Code string `gorm:"snowflake;size:20"`
	}
	// A Visit embeds a pointer.
	Visit struct {
		*Base
		Origin Ref `gorm:"embedded;embeddedPrefix:origin_"`
		Page   string
	}
	// A Parcel has an embedded pointer with a prefix.
	Parcel struct {
		Box   *Base `gorm:"embedded;embeddedPrefix:box_"`
		Label string
	}
	// A Lot has a composite key. The plugin fills one of its members.
	Lot struct {
		Tenant int64   `gorm:"primaryKey;autoIncrement:false"`
		ID     snow.ID `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Name   string  `gorm:"size:40;uniqueIndex"`
	}
	// A Pair has a composite key that the plugin does not fill.
	Pair struct {
		LeftID  snow.ID `gorm:"primaryKey"`
		RightID snow.ID `gorm:"primaryKey"`
	}
	// A Shed has many polymorphic tools.
	Shed struct {
		ID    snow.ID
		Tools []Tool `gorm:"polymorphic:Owner"`
	}
	// A Barn has one polymorphic tool.
	Barn struct {
		gormsnow.SoftModel
		Tool Tool `gorm:"polymorphic:Owner"`
	}
	// A Tool has a polymorphic owner.
	Tool struct {
		ID        snow.ID
		OwnerID   snow.ID
		OwnerType string `gorm:"size:20"`
	}
	// A Student has courses, through a join table with a key of its own.
	Student struct {
		ID      int64    `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Courses []Course `gorm:"many2many:enrolments"`
	}
	// A Course embeds its key.
	Course struct {
		Base
		Title string `gorm:"size:40"`
	}
	// An Enrolment is the model of that join table.
	Enrolment struct {
		ID        snow.ID
		StudentID int64   `gorm:"uniqueIndex:enrolled"`
		CourseID  snow.ID `gorm:"uniqueIndex:enrolled"`
	}
)

// Models with unique columns in addition to the key.
type (
	// A Company has a unique name.
	Company struct {
		ID     snow.ID
		Name   string `gorm:"size:40;uniqueIndex"`
		Motto  string `gorm:"size:40"`
		Staff  []Employee
		Badges []Badge `gorm:"many2many:company_badges"`
	}
	// An Employee has a unique address and belongs to a company.
	Employee struct {
		ID        snow.ID
		Email     *string `gorm:"size:40;unique"`
		CompanyID snow.ID
		Company   *Company
	}
	// A Badge has a unique label and a tagged key.
	Badge struct {
		Base
		Label string `gorm:"size:40;uniqueIndex"`
	}
	// A Secret is unique in the table, which the model does not declare.
	Secret struct {
		ID   snow.ID
		Word string `gorm:"size:40"`
	}
	// A Keeper belongs to a secret and shares others.
	Keeper struct {
		ID       snow.ID
		SecretID snow.ID
		Secret   *Secret
		Shared   []Secret `gorm:"many2many:keeper_secrets"`
	}
	// A Part is unique in many ways.
	Part struct {
		ID snow.ID
		A  int `gorm:"unique"`
		B  int `gorm:"unique"`
		C  int `gorm:"unique"`
		D  int `gorm:"unique"`
		E  int `gorm:"unique"`
		F  int `gorm:"unique"`
	}
	// An Album is a Secret whose key is tagged.
	Album struct {
		Base
		Title string `gorm:"size:40"`
	}
	// A Fan has albums.
	Fan struct {
		ID     snow.ID
		Albums []Album `gorm:"many2many:fan_albums"`
	}
	// A Gadget has keys of every type, and its Maker and Number are unique together.
	Gadget struct {
		ID     int64    `gorm:"primaryKey;autoIncrement:false;snowflake"`
		Maker  string   `gorm:"size:40;uniqueIndex:made"`
		Number int      `gorm:"uniqueIndex:made"`
		Serial string   `gorm:"size:40;unique"`
		Public string   `gorm:"snowflake;size:20"`
		Token  *uint64  `gorm:"snowflake"`
		Trace  *snow.ID `gorm:"snowflake"`
		Note   string   `gorm:"size:40"`
	}
	// A Country has its own primary key, and another key that the plugin fills.
	Country struct {
		Code   string  `gorm:"primaryKey;size:2"`
		Public snow.ID `gorm:"snowflake"`
		Name   string  `gorm:"size:40"`
	}
	// A Desk has an owner, members and clerks, which may be the same ones.
	Desk struct {
		ID      snow.ID
		OwnerID *snow.ID
		Owner   *Clerk
		Members []*Clerk `gorm:"foreignKey:TeamID"`
		Clerks  []*Clerk `gorm:"many2many:desk_clerks"`
	}
	// A Clerk may be a member of a desk.
	Clerk struct {
		ID     snow.ID
		TeamID *snow.ID
		Name   string `gorm:"size:40"`
	}
	// A Profile has the key of its login.
	Profile struct {
		UserID snow.ID `gorm:"primaryKey"`
		User   *Login
		Bio    string `gorm:"size:40"`
	}
	// A Login has a unique name.
	Login struct {
		gormsnow.Model
		Name string `gorm:"size:40;uniqueIndex"`
	}
)

// Models whose ids carry a shard.
type (
	// A Buyer has purchases.
	Buyer struct {
		ID   snow.ID
		Name string `gorm:"size:40;uniqueIndex"`
	}
	// A Purchase is in the shard of its buyer.
	Purchase struct {
		ID      snow.ID `snow:"shard=BuyerID"`
		BuyerID snow.ID
		Buyer   *Buyer
		Note    string `gorm:"size:40"`
		hookID  snow.ID
	}
	// An OptionalPurchase may have a buyer.
	OptionalPurchase struct {
		ID      snow.ID  `gorm:"primaryKey" snow:"shard=BuyerID"`
		BuyerID *snow.ID `gorm:"index"`
		Buyer   Buyer
	}
	// A TenantRow is in the shard of an integer.
	TenantRow struct {
		ID     string `gorm:"primaryKey;snowflake;size:20" snow:"shard=Tenant"`
		Tenant int
	}
	// A Twin has the shard of another key of the row, which is made with it.
	Twin struct {
		ID     snow.ID `snow:"shard=Public"`
		Public snow.ID `gorm:"snowflake"`
	}
	// A Lodger has the shard tag on the struct that it embeds.
	Lodger struct {
		gormsnow.Model `snow:"shard=BuyerID"`
		BuyerID        snow.ID
	}
	// A CityRow is in the shard of a string.
	CityRow struct {
		ID   *snow.ID `snow:"shard=City"`
		City string   `gorm:"size:40"`
	}
)

// BeforeCreate remembers the id that it sees.
func (p *Purchase) BeforeCreate(*gorm.DB) error {
	p.hookID = p.ID
	return nil
}

var models = []any{
	&Customer{}, &Basket{}, &Topic{}, &Voucher{}, &Visit{}, &Parcel{}, &Lot{}, &Pair{}, &Shed{}, &Barn{}, &Tool{},
	&Student{}, &Course{}, &Company{}, &Employee{}, &Badge{}, &Secret{}, &Keeper{}, &Part{}, &Album{}, &Fan{}, &Gadget{}, &Country{}, &Profile{}, &Login{}, &Clerk{}, &Desk{},
	&Buyer{}, &Purchase{}, &OptionalPurchase{}, &TenantRow{}, &CityRow{}, &Twin{}, &Lodger{},
}
